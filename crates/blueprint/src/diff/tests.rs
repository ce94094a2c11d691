//! What differs, told at its place.

use super::*;
use crate::check;

const OLD: &str = "---
id: t
name: T
nodes:
  - { id: start, type: manual_trigger }
  - { id: a, type: shell, fields: { command: one, env: { A: x, B: y } } }
  - { id: b, type: branch, fields: { condition: trigger.output.ok } }
  - { id: c, type: join }
edges:
  - { from: start, to: a }
  - { from: a, to: b }
  - { from: b, from_port: on_true, to: c }
---
";

fn program(text: &str) -> Program {
    let checked = check(text.as_bytes());
    checked.program.unwrap_or_else(|| panic!("{:?}", checked.findings))
}

fn shown(new: &str) -> Vec<String> {
    let (old, new) = (program(OLD), program(new));
    let found = diff(&old, &new);
    assert_eq!(found.is_empty(), old.hash() == new.hash());
    let text = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), Value::to_string);
    found.iter().map(|d| format!("{:?} {} {}", d.place, text(&d.old), text(&d.new))).collect()
}

#[test]
fn the_layout_makes_no_difference() {
    let block =
        OLD.replace("{ id: c, type: join }", "id: c\n    type: join # c\n    position: { x: 1 }");
    assert!(shown(&block).is_empty());
}

#[test]
fn a_change_is_told_at_its_place() {
    let new = OLD
        .replace("name: T", "name: U\nmax_parallel: 2")
        .replace("command: one, env: { A: x, B: y }", "command: two, env: { A: z, C: y }")
        .replace("type: shell,", "type: shell, timeout: 5m,");
    assert_eq!(
        shown(&new),
        [
            r#"Key("max_parallel") 4 2"#,
            r#"Key("name") "T" "U""#,
            r#"Part { node: "a", path: "fields.command" } "one" "two""#,
            r#"Part { node: "a", path: "fields.env.A" } "x" "z""#,
            r#"Part { node: "a", path: "fields.env.C" } - "y""#,
            r#"Part { node: "a", path: "fields.env.B" } "y" -"#,
            r#"Part { node: "a", path: "timeout" } - "5m""#,
        ]
    );
}

#[test]
fn nodes_and_edges_come_and_go() {
    let new = OLD
        .replace("{ id: c, type: join }", "{ id: d, type: notify, fields: { message: m } }")
        .replace("to: c", "to: d");
    assert_eq!(
        shown(&new),
        [
            r#"Node("d") - "notify""#,
            r#"Node("c") "join" -"#,
            r#"Edge("b.on_true → d") - "b.on_true → d""#,
            r#"Edge("b.on_true → c") "b.on_true → c" -"#,
        ]
    );
}

#[test]
fn another_order_is_a_difference_of_its_own() {
    let new = OLD.replace("  - { from: start, to: a }\n", "");
    let new = new.replace("to: c }\n", "to: c }\n  - { from: start, to: a }\n");
    assert_eq!(shown(&new).len(), 1);
    assert!(shown(&new)[0].starts_with("EdgeOrder"));
    let first = "  - { id: start, type: manual_trigger }\n";
    let new = OLD.replace(first, "").replace("type: join }\n", &format!("type: join }}\n{first}"));
    assert_eq!(shown(&new), [r#"NodeOrder ["start","a","b","c"] ["a","b","c","start"]"#]);
}
