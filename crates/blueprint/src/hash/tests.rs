//! The text of a graph and the value that it stands for.

use proptest::prelude::*;

use super::*;

fn json() -> impl Strategy<Value = Value> {
    const NUMBERS: &[&str] = &["0", "-0", "1.50", "1e3", "-7", "9007199254740993", "1E400", "0.1"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        prop::sample::select(NUMBERS).prop_map(|text| serde_json::from_str(text).unwrap()),
        any::<String>().prop_map(Value::String),
        "[ -~\\x00-\\x1f\\x7f-é]{0,8}".prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof!["[a-c\"\n]{0,2}", "[\u{ffff}\u{10000}é]{1,2}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(key, inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_text_that_is_called_canonical_is_and_every_text_says_its_value(value in json()) {
        let mut of_value = Writer::default();
        of_value.value(&value);
        let mut of_yaml = Writer::default();
        of_yaml.yaml(&serde_json::from_str(&value.to_string()).unwrap());
        prop_assert_eq!(of_value.is_canonical(), of_yaml.is_canonical());
        let is_canonical = of_value.is_canonical();
        let text = of_value.into_text();
        prop_assert_eq!(&text, &of_yaml.into_text());
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value.clone());
        if is_canonical {
            prop_assert_eq!(text, canon::to_canonical(&value));
        }
    }
}

#[test]
fn the_hash_is_the_digest_of_the_canonical_form_and_a_node_is_a_part_of_the_text() {
    let file = "---\nid: a\nname: \"\\\"\"\nbudget: { tokens: 5 }\ndeadline: 2h\n\
        workspace: shared\non_limit: fail\nnodes:\n  \
        - { id: start, type: manual_trigger }\n  \
        - { id: s, type: state, fields: { op: set, entries: { \u{e9}: 1.50, z: [], b: -0 } } }\n\
        edges: [{ from: start, to: s }]\n---\n";
    let program = crate::check(file.as_bytes()).program.unwrap();
    let value = program.graph.value();
    assert_eq!(program.hash, canon::digest(&value));
    assert_eq!(program.graph.text(), value.to_string());
    let node: Value = serde_json::from_str(program.graph.node(1)).unwrap();
    assert_eq!(node, value["nodes"][1]);
    assert_eq!(node["fields"]["entries"].to_string(), "{\"b\":-0,\"z\":[],\"\u{e9}\":1.50}");
}
