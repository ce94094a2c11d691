//! No text and no data do harm: nothing panics, and every mistake has a place.

use super::*;

const GOOD: [&str; 8] = [
    "trigger.output.a && nodes.b-c.output.d[0] > 3",
    "has(storage.x) ? storage.x.size() >= 2 : !trigger.output.ok",
    "trigger.output.l.exists(x, x.name.matches(r'^a\\d') || x.all(y, y in ['a', \"b\"]))",
    "nodes[\"a b\"].output.n * 2 - 1 % 7 == -3.5e2 || false",
    "{'a': 1, 'b': [true, null]} == trigger.output.m",
    "int(trigger.output.s) + 1u == 'x'.size() // end",
    "trigger.output.l.map(x, x > 1, x + 1).filter(x, x != 2).exists_one(x, true)",
    "string(item_index) + run.id == '\\u00e9\\x41\\101' + item.key",
];

const WORDS: [&str; 40] = [
    "trigger", "output", "nodes", "storage", "item", "x", "a-b", "has", "size", "exists", "map",
    "all", "matches", "in", "true", "null", "and", ".", ",", "(", ")", "[", "]", "{", "}", "?",
    ":", "+", "-", "*", "/", "!", "==", "<", "&&", "||", "'s'", "\"", "1", "2.5e9",
];

fn survives(source: &str) -> Result<(), TestCaseError> {
    match Condition::parse(source) {
        Err(error) => {
            prop_assert!(source.get(error.range.clone()).is_some(), "{:?}: {:?}", source, error);
            prop_assert!(error.suggestion.is_some());
        }
        Ok(condition) => {
            for path in condition.paths() {
                prop_assert!(source.get(path.range.clone()).is_some());
            }
            for value in
                ["{}", r#"{"a":true,"l":[{"name":"a1"},[1]],"m":{},"s":"7","ok":1}"#, "[1]"]
            {
                drop(condition.eval(&Trigger(serde_json::from_str(value).unwrap())));
            }
        }
    }
    Ok(())
}

fn near_good() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0..3_u8, prop::sample::select(WORDS.to_vec()));
    let changes = proptest::collection::vec(change, 1..4);
    (prop::sample::select(GOOD.to_vec()), changes).prop_map(|(good, changes)| {
        let mut text: Vec<char> = good.chars().collect();
        for (at, what, word) in changes {
            let at = at.index(text.len().max(1)).min(text.len());
            match what {
                0 if at < text.len() => drop(text.remove(at)),
                1 => drop(text.splice(at..at, word.chars())),
                _ => text.truncate(at.max(1)),
            }
        }
        text.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_text_is_read_without_harm(source in "\\PC{0,40}") {
        survives(&source)?;
    }

    #[test]
    fn any_row_of_words_is_read_without_harm(
        words in proptest::collection::vec(prop::sample::select(WORDS.to_vec()), 0..24),
        gap in prop::sample::select(vec!["", " ", "\n"]),
    ) {
        survives(&words.join(gap))?;
    }

    #[test]
    fn a_condition_with_mistakes_is_read_without_harm(source in near_good()) {
        survives(&source)?;
    }

    #[test]
    fn arithmetic_at_the_borders_does_no_harm(
        a in prop::sample::select(vec!["-9223372036854775808", "-1", "0", "9223372036854775807",
            "18446744073709551615", "1e308", "-1e400", "0.0", "123456789012345678901234567890"]),
        b in prop::sample::select(vec!["-9223372036854775808", "-1", "0", "9223372036854775807",
            "18446744073709551615", "1e308", "-1e400", "0.0", "123456789012345678901234567890"]),
        sign in prop::sample::select(vec!["+", "-", "*", "/", "%"]),
        call in prop::sample::select(vec!["int", "uint", "double", "-"]),
    ) {
        let value: Value = serde_json::from_str(&format!("{{\"a\":{a},\"b\":{b}}}")).unwrap();
        let source = format!("{call}(trigger.output.a) {sign} trigger.output.b == {call}(trigger.output.b)");
        drop(Condition::parse(&source).unwrap().eval(&Trigger(value)));
    }
}

#[test]
fn good_conditions_are_good() {
    for source in GOOD {
        Condition::parse(source).unwrap_or_else(|error| panic!("{source}: {error:?}"));
    }
}

#[test]
fn the_deepest_conditions_fit_the_stack_of_a_thread() {
    let sources = [
        format!("{}trigger.output.a{} == [1]", "[".repeat(22), "]".repeat(22)),
        format!("{}trigger.output.a == 1{}", "(".repeat(31), ")".repeat(31)),
        format!("{}trigger.output.a", "!(".repeat(15)) + &")".repeat(15),
        vec!["trigger.output.a"; 23].join(" - ") + " == 1",
        format!("{}true{}", "trigger.output.a == 1 ? true : (".repeat(15), ")".repeat(15)),
        vec!["trigger.output.a == 2"; 120].join(" || "),
    ];
    for source in sources {
        let condition = Condition::parse(&source).unwrap();
        drop(condition.eval(&Trigger(json!({ "a": 1 }))));
    }
}
