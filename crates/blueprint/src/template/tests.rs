//! Templates by example, and their laws.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::NodeId;

#[derive(Default)]
pub(crate) struct Registry(BTreeMap<Root, Value>);

impl Registry {
    pub(crate) fn of(roots: impl IntoIterator<Item = (Root, Value)>) -> Self {
        Self(roots.into_iter().collect())
    }
}

impl Scope for Registry {
    fn value(&self, root: &Root) -> Option<&Value> {
        self.0.get(root)
    }

    fn file(&self, text: &str) -> String {
        format!("/files/{}", text.len())
    }
}

fn registry() -> Registry {
    let big: Value =
        serde_json::from_str(r#"{"p_id":7615917337495251231,"q":18446744073709551616,"r":1.50e2}"#)
            .unwrap();
    Registry::of([
        (Root::Trigger, big),
        (
            Root::Output(NodeId::new("triage")),
            json!({
                "title": "it's {{run.id}}", "ok": true, "none": null, "empty": {},
                "items": [{"a.b": 1}, "two"], "0": "zero", "über": "x",
            }),
        ),
        (Root::Prev(NodeId::new("triage")), json!("before")),
        (Root::Error(NodeId::new("a-b_1")), json!({"message": "late"})),
        (Root::Storage, json!({"n": 3})),
        (Root::RunId, json!("run-1")),
        (Root::Item, json!(["x"])),
        (Root::ItemIndex, json!(7)),
    ])
}

fn render(source: &str) -> Result<String, TemplateError> {
    Template::parse(source).unwrap().render(&registry())
}

#[test]
fn each_root_and_each_kind_of_step_is_rendered() {
    let cases = [
        ("", ""),
        ("no places } }} { here", "no places } }} { here"),
        ("{{nodes.triage.prev}}", "before"),
        ("{{ nodes.a-b_1.error.message }}", "late"),
        ("a{{storage.n}}b{{item_index}}c{{\trun.id\n}}", "a3b7crun-1"),
        ("{{item[0]}}{{item.0}}", "xx"),
        ("{{nodes.triage.output.items[0][\"a.b\"]}}", "1"),
        ("{{nodes.triage.output.items.1}}", "two"),
        ("{{nodes.triage.output.0}}", "zero"),
        ("{{nodes.triage.output[\"\\u00fcber\"]}}", "x"),
        ("{{nodes.triage.output.ok}}", "true"),
        ("{{nodes.triage.output.items}}", r#"[{"a.b":1},"two"]"#),
        ("{{nodes.triage.output.empty}}", "{}"),
        ("{{storage}}", r#"{"n":3}"#),
    ];
    for (source, text) in cases {
        assert_eq!(render(source).as_deref(), Ok(text), "{source}");
    }
}

#[test]
fn numbers_keep_every_digit() {
    let text = render("{{trigger.output.p_id}} {{trigger.output.q}} {{trigger.output}}").unwrap();
    assert_eq!(
        text,
        "7615917337495251231 18446744073709551616 \
         {\"p_id\":7615917337495251231,\"q\":18446744073709551616,\"r\":1.50e+2}"
    );
}

#[test]
fn filters_apply_in_their_order() {
    let cases = [
        ("{{nodes.triage.prev | json}}", "\"before\""),
        ("{{nodes.triage.output.none|json}}", "null"),
        ("{{nodes.triage.output.none | default(\"-\")}}", "-"),
        ("{{nodes.gone.output.a.b | default({\"a\":{\"b\":\"}}\"}})}}", r#"{"a":{"b":"}}"}}"#),
        ("{{nodes.gone.output | default(null) | json}}", "null"),
        ("{{nodes.gone.output | default( -1.50 ) }}", "-1.50"),
        ("{{nodes.gone.output | default(\"\")}}", ""),
        ("{{nodes.triage.prev | default(\"-\")}}", "before"),
        ("{{nodes.triage.prev | file}}", "/files/6"),
        ("{{nodes.gone.output | default(\"ab\") | json | file}}", "/files/4"),
    ];
    for (source, text) in cases {
        assert_eq!(render(source).as_deref(), Ok(text), "{source}");
    }
}

#[test]
fn a_value_with_braces_is_not_looked_at_again() {
    assert_eq!(render("{{nodes.triage.output.title}}").as_deref(), Ok("it's {{run.id}}"));
}

#[test]
fn a_quoted_text_stands_for_itself() {
    let template = Template::parse("a {{\"{{\"}} b }} {{ \"\\\"}}\" }}").unwrap();
    assert_eq!(template.literal(), Some("a {{ b }} \"}}"));
    assert_eq!(template.parts().len(), 1);
    assert_eq!(Template::parse("{{run.id}}").unwrap().literal(), None);
    assert_eq!(Template::parse("").unwrap().literal(), Some(""));
}

#[test]
fn only_a_template_that_is_one_place_keeps_the_type() {
    let value = |source: &str| Template::parse(source).unwrap().render_value(&registry());
    assert_eq!(value("{{nodes.triage.output.ok}}"), Ok(json!(true)));
    assert_eq!(value("{{nodes.triage.output.items}}"), Ok(json!([{"a.b": 1}, "two"])));
    assert_eq!(value("{{trigger.output.q}}").unwrap().to_string(), "18446744073709551616");
    assert_eq!(value(" {{nodes.triage.output.ok}}"), Ok(json!(" true")));
    assert_eq!(value("{{nodes.triage.output.items | json}}"), Ok(json!("[{\"a.b\":1},\"two\"]")));
    assert_eq!(value("{{storage.x | default(null)}}"), Ok(Value::Null));
    assert_eq!(value("text"), Ok(json!("text")));
    assert!(value("{{nodes.triage.output.none}}").is_err());
}

#[test]
fn an_expression_has_its_range_and_its_usual_spelling() {
    let source = "é {{ nodes.a.output [\"x\"]}}";
    assert!(Template::parse(source).is_err());
    let source = "é {{ nodes.a.output.b[\"x y\"].3[\"c\"] | json }}!";
    let template = Template::parse(source).unwrap();
    let expr = template.exprs().next().unwrap();
    assert_eq!(&source[expr.range.clone()], "{{ nodes.a.output.b[\"x y\"].3[\"c\"] | json }}");
    assert_eq!(expr.to_string(), "nodes.a.output.b[\"x y\"][3].c");
    assert_eq!(template.source(), source);
}

#[test]
fn what_is_missing_is_told_with_what_is_there() {
    let wide = Value::Object((0..30).map(|n| (format!("key_{n:02}"), Value::Null)).collect());
    let mut registry = registry();
    registry.0.insert(Root::Output(NodeId::new("wide")), wide);
    let long = Value::Object([("k".repeat(500), Value::Null)].into_iter().collect());
    registry.0.insert(Root::Output(NodeId::new("long")), long);
    let cases = [
        "{{nodes.triage.output.titel}}",
        "{{nodes.triage.output.none}}",
        "{{nodes.triage.output.none.x}}",
        "{{nodes.triage.output.empty.x}}",
        "{{nodes.triage.output.title.x}}",
        "{{nodes.triage.output.ok.x}}",
        "{{nodes.triage.output.items.x}}",
        "{{nodes.triage.output.items[2]}}",
        "{{storage.n.x}}",
        "{{nodes.gone.output.x}}",
        "{{nodes.gone.prev}}",
        "{{nodes.gone.error | json}}",
        "{{nodes.wide.output.x}}",
        "{{nodes.long.output[\"a.b\"]}}",
    ];
    let told: Vec<String> = cases
        .iter()
        .map(|source| Template::parse(source).unwrap().render(&registry).unwrap_err().to_string())
        .collect();
    insta::assert_snapshot!(told.join("\n"));
    let empty = Registry::default();
    let told: Vec<String> = ["trigger.output", "storage.a", "run.id", "item", "item_index"]
        .iter()
        .map(|path| Template::parse(&format!("{{{{{path}}}}}")).unwrap())
        .map(|template| template.render(&empty).unwrap_err().to_string())
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    unresolved {{trigger.output}}: the trigger has no output
    unresolved {{storage.a}}: nothing is stored
    unresolved {{run.id}}: the run has no id here
    unresolved {{item}}: there is no item here
    unresolved {{item_index}}: there is no item here
    "#);
}

#[test]
fn a_broken_template_is_told_with_the_place_and_the_fix() {
    let cases = [
        "{{",
        "a {{ run.id",
        "a {{ run.id\nb",
        "{{}}",
        "{{  }}",
        "{{ {{run.id}} }}",
        "{{{run.id}}}",
        "{{input.x}}",
        "{{ndoes.a.output}}",
        "{{triger.output}}",
        "{{trigger.x}}",
        "{{trigger.ouptut.x}}",
        "{{trigger}}",
        "{{run.number}}",
        "{{run}}",
        "{{run.id.x}}",
        "{{item_index.x}}",
        "{{nodes}}",
        "{{nodes.}}",
        "{{nodes.a}}",
        "{{nodes.a.}}",
        "{{nodes.a.outptu.x}}",
        "{{nodes.a.title}}",
        "{{nodes.a b.output}}",
        "{{storage.a..b}}",
        "{{storage.2fa}}",
        "{{storage.01}}",
        "{{storage[99999999999999999999]}}",
        "{{storage[a]}}",
        "{{storage['a']}}",
        "{{storage[\"a]}}",
        "{{storage[0}}",
        "{{storage.a + 1}}",
        "{{storage.a | }}",
        "{{storage.a | jsn}}",
        "{{storage.a | upper}}",
        "{{storage.a | default}}",
        "{{storage.a | default()}}",
        "{{storage.a | default('x')}}",
        "{{storage.a | default(1, 2)}}",
        "{{storage.a | json | default(1)}}",
        "{{storage.a | json | json}}",
        "{{storage.a || json}}",
        "{{\"text}}",
        "{{\"text\" | json}}",
        "{{é}}",
    ];
    let mut out = String::new();
    for source in cases {
        let errors = Template::parse(source).expect_err(source);
        for error in errors {
            let at = &source[error.range.clone()];
            let fix = error.suggestion.as_deref().unwrap_or("-");
            out +=
                &format!("{source:?}\n    at {:?} {at:?}: {error}\n    fix: {fix}\n", error.range);
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn all_errors_are_told_at_once() {
    let source = "{{a}} {{run.id}} {{storage | x}} {{ run.id {{b}} {{";
    let errors = Template::parse(source).unwrap_err();
    let starts: Vec<usize> = errors.iter().map(|error| error.range.start).collect();
    assert_eq!(starts, [2, 29, 43, 45, 49]);
}

#[test]
fn a_rendered_text_has_a_limit() {
    let half = "x".repeat(limits::RENDERED_BYTES / 2);
    let registry = Registry::of([(Root::Item, json!(half))]);
    let render = |source: &str| Template::parse(source).unwrap().render(&registry);
    assert_eq!(render("{{item}}{{item}}").unwrap().len(), limits::RENDERED_BYTES);
    let most = limits::RENDERED_BYTES;
    assert_eq!(render("{{item}}-{{item}}"), Err(TemplateError::TooLarge { bytes: most + 1, most }));
    assert_eq!(
        render("{{item}}{{item}}{{item}}{{item}}"),
        Err(TemplateError::TooLarge { bytes: 2 * most, most })
    );
    assert_eq!(render("{{item | file}}").unwrap(), format!("/files/{}", most / 2));
}

#[test]
fn no_process_is_given_a_nul() {
    let registry = Registry::of([(Root::Item, json!("a\0b"))]);
    let template = Template::parse("x {{item}}").unwrap();
    assert_eq!(template.render(&registry).as_deref(), Ok("x a\0b"));
    assert_eq!(
        template.render_for_process(&registry),
        Err(TemplateError::Nul { path: "item".to_owned() })
    );
}

#[test]
fn a_plain_name_is_what_a_path_can_hold_without_quotes() {
    for name in ["a", "_", "a-b_9", "A"] {
        assert!(is_plain_name(name), "{name}");
    }
    for name in ["", "9a", "-a", "a b", "a.b", "é", "a/b"] {
        assert!(!is_plain_name(name), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn text_without_double_braces_is_its_own_template(text in "[^{]{0,40}") {
        let template = Template::parse(&text).unwrap();
        prop_assert_eq!(template.literal(), Some(text.as_str()));
        prop_assert_eq!(template.render(&Registry::default()).unwrap(), text);
    }

    #[test]
    fn any_text_can_be_written_as_a_quoted_text(text in ".{0,40}") {
        let quoted = format!("{{{{{}}}}}", Value::from(text.as_str()));
        let template = Template::parse(&quoted).unwrap();
        prop_assert_eq!(template.literal(), Some(text.as_str()));
    }

    #[test]
    fn a_string_is_rendered_byte_for_byte(text in any::<String>()) {
        let registry = Registry::of([(Root::Item, Value::from(text.as_str()))]);
        let template = Template::parse("<{{item}}>").unwrap();
        prop_assert_eq!(template.render(&registry).unwrap(), format!("<{text}>"));
    }

    #[test]
    fn any_source_is_read_and_its_pieces_cover_it(
        parts in prop::collection::vec(
            prop::sample::select(&["{{", "}}", "{", "}", "run.id", " ", "|", "json", "\"", "é", "item", "[0]", ".a", "default(", ")", "\n", "\\"][..]),
            0..16,
        )
    ) {
        let source = parts.concat();
        match syntax::scan(&source) {
            Ok(pieces) => {
                let mut end = 0;
                for piece in pieces {
                    prop_assert_eq!(piece.range.start, end);
                    end = piece.range.end;
                }
                prop_assert_eq!(end, source.len());
            }
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                for error in errors {
                    prop_assert!(source.get(error.range).is_some());
                }
            }
        }
    }

    #[test]
    fn a_path_in_its_usual_spelling_reads_back_the_same(
        keys in prop::collection::vec(prop_oneof![
            any::<String>().prop_map(Step::Key),
            (0..1000_usize).prop_map(Step::Index),
        ], 0..5)
    ) {
        let expr = Expr { root: Root::Storage, path: keys, filters: Vec::new(), range: 0..0 };
        let template = Template::parse(&format!("{{{{{expr}}}}}")).unwrap();
        prop_assert!(template.exprs().next().unwrap().means_the_same(&expr));
    }
}
