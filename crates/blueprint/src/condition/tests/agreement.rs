//! Two ways to one answer: our reading and that of `cel`, the short way for
//! one comparison and the long one, today and tomorrow.

use cel::{Context, Program, Value as CelValue};

use super::*;

const DATA: &str = r#"{
    "i": 3, "z": 0, "d": 2.5, "s": "abc", "u": "h\u00e9", "t": true, "f": false, "n": null,
    "l": [1, 2, 3], "e": [], "w": ["a", "abc"], "m": {"k": 1, "j": 2}
}"#;

/// Writes a well-formed expression from a tape of chances.
struct Writer<'a> {
    tape: &'a [u8],
    depth: usize,
    loops: usize,
}

impl Writer<'_> {
    fn pick(&mut self, of: usize) -> usize {
        match self.tape {
            [first, rest @ ..] => {
                self.tape = rest;
                usize::from(*first) % of
            }
            [] => 0,
        }
    }

    fn inner(&mut self, write: fn(&mut Self) -> String) -> String {
        self.depth += 1;
        let written = write(self);
        self.depth -= 1;
        written
    }

    fn question(&mut self) -> String {
        let choice = if self.depth > 4 { self.pick(4) } else { self.pick(18) };
        match choice {
            0 => "trigger.output.t".to_owned(),
            1 => "trigger.output.f".to_owned(),
            2 => "has(trigger.output.s)".to_owned(),
            3 => "trigger.output.zz".to_owned(),
            4 | 5 => format!("{} && {}", self.inner(Self::question), self.inner(Self::question)),
            6 | 7 => format!("{}||{}", self.inner(Self::question), self.inner(Self::question)),
            8 => format!("!{}", self.inner(Self::atom)),
            9 | 10 => {
                let sign = ["==", "!=", "<", "<=", ">", ">="][self.pick(6)];
                format!("{} {sign} {}", self.inner(Self::number), self.inner(Self::number))
            }
            11 => {
                let sign = ["==", "!=", "<", ">="][self.pick(4)];
                format!("{} {sign} {}", self.inner(Self::text), self.inner(Self::text))
            }
            12 => format!("{} in {}", self.inner(Self::number), self.inner(Self::list)),
            13 => {
                let name = ["contains", "startsWith", "endsWith"][self.pick(3)];
                let (text, part) = (self.inner(Self::text_atom), self.inner(Self::text));
                format!("{text}.{name}({part})")
            }
            14 => self.inner(Self::atom),
            15 => format!("{} == {}", self.inner(Self::list), self.inner(Self::list)),
            16 => format!(
                "({} ? {} : {})",
                self.inner(Self::question),
                self.inner(Self::question),
                self.inner(Self::question)
            ),
            _ if self.loops < 2 => {
                self.loops += 1;
                let x = ["", "x", "z"][self.loops];
                let name = ["exists", "all", "exists_one"][self.pick(3)];
                let (list, asked) = (self.inner(Self::list_atom), self.inner(Self::question));
                let sign = ["<", ">=", "=="][self.pick(3)];
                let number = self.inner(Self::number_atom);
                format!("{list}.{name}({x}, {x} {sign} {number} || ({asked}))")
            }
            _ => "true".to_owned(),
        }
    }

    fn atom(&mut self) -> String {
        format!("({})", self.question())
    }

    fn number(&mut self) -> String {
        let choice = if self.depth > 4 { self.pick(4) } else { self.pick(12) };
        match choice {
            0 => "trigger.output.i".to_owned(),
            1 => self.pick(20).to_string(),
            2 => "trigger.output.z".to_owned(),
            3 => "-2".to_owned(),
            4 => "trigger.output.d".to_owned(),
            5 => format!("{}.5", self.pick(9)),
            6 | 7 => {
                let sign = [" + ", " - ", " * ", "/", "%", " - "][self.pick(6)];
                format!("{}{sign}{}", self.inner(Self::number), self.inner(Self::number))
            }
            8 => format!("size({})", self.inner(Self::list)),
            9 => format!("{}[{}]", self.inner(Self::list_atom), self.inner(Self::number)),
            10 => format!("-({})", self.inner(Self::number)),
            _ => format!("int({})", self.inner(Self::number)),
        }
    }

    fn number_atom(&mut self) -> String {
        format!("({})", self.number())
    }

    fn text(&mut self) -> String {
        let choice = if self.depth > 4 { self.pick(4) } else { self.pick(6) };
        match choice {
            0 => "trigger.output.s".to_owned(),
            1 => "'b'".to_owned(),
            2 => "trigger.output.u".to_owned(),
            3 => "\"h\u{e9}\\n\"".to_owned(),
            4 => format!("{} + {}", self.inner(Self::text), self.inner(Self::text)),
            _ => format!("string({})", self.inner(Self::number)),
        }
    }

    fn text_atom(&mut self) -> String {
        format!("({})", self.text())
    }

    fn list(&mut self) -> String {
        let choice = if self.depth > 4 { self.pick(3) } else { self.pick(6) };
        match choice {
            0 => "trigger.output.l".to_owned(),
            1 => "trigger.output.e".to_owned(),
            2 => "[1, 2]".to_owned(),
            3 => format!("[{}, {}]", self.inner(Self::number), self.inner(Self::number)),
            4 => format!("{} + {}", self.inner(Self::list), self.inner(Self::list)),
            _ if self.loops < 2 => {
                self.loops += 1;
                format!("{}.map(y, y + 1)", self.inner(Self::list_atom))
            }
            _ => "[]".to_owned(),
        }
    }

    fn list_atom(&mut self) -> String {
        format!("({})", self.list())
    }
}

fn expression() -> impl Strategy<Value = String> {
    proptest::collection::vec(any::<u8>(), 0..60)
        .prop_map(|tape| Writer { tape: &tape, depth: 0, loops: 0 }.question())
}

/// What `cel` answers when it does the reading too.
fn cel_alone(source: &str, value: &Value) -> Option<bool> {
    let program = Program::compile(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    let trigger = json!({ "output": value });
    let mut context = Context::default();
    context.add_variable_as_val("trigger", values::to_cel(&trigger));
    match program.execute(&context) {
        Ok(CelValue::Bool(is)) => Some(is),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn our_reading_and_that_of_cel_come_to_one_answer(source in expression()) {
        let value: Value = serde_json::from_str(DATA).unwrap();
        // What can never be decided is refused here and fails there.
        let ours = Condition::parse(&format!("({source}) == true"))
            .ok()
            .and_then(|condition| condition.eval(&Trigger(value.clone())).ok());
        let theirs = cel_alone(&format!("({source}) == true"), &value);
        prop_assert_eq!(ours, theirs, "{}", source);
    }

    #[test]
    fn the_short_way_of_a_comparison_and_the_long_one_agree(a in number(), b in number()) {
        let json = format!("{{\"a\":{a},\"b\":{b}}}");
        for operator in ["==", "!=", "<", "<=", ">", ">="] {
            let short = format!("trigger.output.a {operator} trigger.output.b");
            let answer = eval(&short, &json);
            prop_assert!(answer.is_ok());
            prop_assert_eq!(eval(&format!("({short}) && true"), &json), answer);
        }
        let listed = eval("[trigger.output.a] == [trigger.output.b]", &json);
        prop_assert_eq!(listed, eval("trigger.output.a == trigger.output.b", &json));
        let within = eval("trigger.output.a in [[1], trigger.output.b, null]", &json);
        prop_assert_eq!(within, eval("trigger.output.a == trigger.output.b", &json));
    }

    #[test]
    fn the_short_way_and_the_long_one_agree_on_strings(a in ".{0,6}", b in ".{0,6}") {
        let json = json!({ "a": a, "b": b }).to_string();
        for operator in ["==", "!=", "<", "<=", ">", ">="] {
            let short = format!("trigger.output.a {operator} trigger.output.b");
            prop_assert_eq!(eval(&format!("({short}) && true"), &json), eval(&short, &json));
        }
    }

    #[test]
    fn a_condition_that_is_asked_again_says_the_same(
        source in expression(),
        keys in proptest::collection::btree_map("[a-z]{1,4}", 0..9_u8, 0..8),
    ) {
        let value = json!({ "m": keys, "t": true, "i": 3, "s": "abc", "l": [1, 2], "e": [] });
        let source = format!("trigger.output.m.map(k, k + 'x').exists(k, k > 'f') || ({source})");
        if let Ok(condition) = Condition::parse(&source) {
            let first = condition.eval(&Trigger(value.clone()));
            for _ in 0..3 {
                let again = Condition::parse(&source).unwrap().eval(&Trigger(value.clone()));
                prop_assert_eq!(&again, &first);
            }
        }
    }
}

#[test]
fn the_keys_of_an_object_come_in_one_order() {
    let keys: serde_json::Map<String, Value> =
        (0..50).map(|n| (format!("k{n:02}"), json!(n))).collect();
    let value = json!({ "m": keys }).to_string();
    for _ in 0..20 {
        let source = "trigger.output.m.filter(k, k > 'k06')[0] == 'k07' && true";
        assert_eq!(eval(source, &value), Ok(true));
    }
}
