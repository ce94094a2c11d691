//! Drawings as their readers see them, and laws that hold for any graph.

use proptest::prelude::*;

use super::*;
use crate::check;

const SHAPES: &str = "---
id: shapes
name: Shapes
nodes:
  - { id: start, type: manual_trigger }
  - { id: judge, type: decision, name: Worth it?, fields: { agent: a, prompt: p, choices: [fix, skip] } }
  - { id: mend, type: loop, name: Until it is green }
  - { id: patch, type: task, parent: mend }
  - { id: tests, type: shell, parent: mend }
  - { id: lint, type: shell, parent: mend }
  - { id: both, type: join, parent: mend }
  - { id: store, type: state, fields: { op: set } }
  - { id: end, type: notify }
edges:
  - { from: start, to: judge }
  - { from: judge, from_port: fix, to: mend }
  - { from: judge, from_port: skip, to: end }
  - { from: mend, from_port: body, to: patch }
  - { from: patch, to: tests }
  - { from: patch, to: lint }
  - { from: tests, to: both }
  - { from: lint, to: both }
  - { from: mend, from_port: done, to: store }
  - { from: store, to: end }
---
";

fn shapes() -> Drawing {
    Drawing::of_file(SHAPES.as_bytes()).unwrap()
}

/// The rows as plain text.
fn lines(drawing: &Drawing, strokes: Strokes) -> String {
    let name = |at: usize| &drawing.shapes[at].id;
    let port = |port: &Option<String>| port.as_ref().map(|port| format!("{port}: "));
    let line = |row: &Row| {
        let lead =
            |lead: &Lead| format!(" > {}{}", port(&lead.port).unwrap_or_default(), name(lead.to));
        let leads: String = row.leads.iter().map(lead).collect();
        format!("{}{}{}{leads}", row.stem, port(&row.port).unwrap_or_default(), name(row.shape))
    };
    rows(drawing, strokes).iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_graph_is_a_tree_of_lines() {
    insta::assert_snapshot!(lines(&shapes(), Strokes::UNICODE), @r"
    start
    judge > skip: end
    └─ fix: mend
       ┊  patch
       ┊  ├─ tests > both
       ┊  └─ lint > both
       ┊  both
       done: store > end
    end
    ");
    assert!(lines(&shapes(), Strokes::ASCII).is_ascii());
}

#[test]
fn a_graph_in_a_circle_is_shown_all_the_same() {
    let text = "---\nid: a\nname: A\nnodes:\n  - {id: a, type: join}\n  - {id: b, type: join}\n  - {id: c, type: join}\nedges:\n  - {from: a, to: b}\n  - {from: b, to: c}\n  - {from: c, to: a}\n  - {from: b, to: b}\n---\n";
    let drawing = Drawing::of_file(text.as_bytes()).unwrap();
    insta::assert_snapshot!(lines(&drawing, Strokes::UNICODE), @r"
    a
    b > b
    └─ c > a
    ");
}

#[test]
fn a_graph_as_text_for_other_programs() {
    insta::assert_snapshot!("mermaid", mermaid(&shapes()));
    insta::assert_snapshot!("dot", dot(&shapes()));
    insta::assert_snapshot!("svg", svg(&shapes()));
}

#[test]
fn a_program_and_its_file_give_the_same_drawing() {
    let text = include_str!("../../../../examples/repo-report.md");
    let program = check(text.as_bytes()).program.unwrap();
    assert_eq!(Drawing::of_file(text.as_bytes()), Some(Drawing::of_program(&program)));
}

/// The drawing with one text for every name in it.
fn named(text: &str) -> Drawing {
    let mut drawing = shapes();
    drawing.title = text.to_owned();
    for shape in &mut drawing.shapes {
        (shape.id, shape.kind) = (text.to_owned(), text.to_owned());
        shape.name = Some(text.to_owned());
    }
    for line in &mut drawing.lines {
        line.port = Some(text.to_owned());
    }
    drawing
}

#[test]
fn hostile_names_stay_names() {
    let evil = "\"]; n0 --> n9\n<script>alert(1)</script> & `${x}` \\\" |# \u{202e}\u{0}-->";
    for draw in [mermaid, dot, svg] {
        let (good, bad) = (draw(&named("good")), draw(&named(evil)));
        assert!(!bad.contains(['\u{202e}', '\u{0}']) && !bad.contains("<script"), "{bad}");
        assert_eq!(good.lines().count(), bad.lines().count());
    }
    assert_eq!(well_formed(&svg(&named(evil))), Ok(()));
    let mut small = named(evil);
    small.shapes.truncate(2);
    small.lines.truncate(1);
    insta::assert_snapshot!("hostile", format!("{}\n{}", mermaid(&small), dot(&small)));
}

/// Whether tags are closed in order, and text holds neither `<` nor a bare `&`.
fn well_formed(text: &str) -> Result<(), String> {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        for entity in rest[..at].split('&').skip(1) {
            let name = entity.split(';').next().unwrap_or_default();
            if !matches!(name, "amp" | "lt" | "gt" | "quot") {
                return Err(format!("&{name}"));
            }
        }
        let end = rest[at..].find('>').ok_or("an open tag")? + at;
        let tag = &rest[at + 1..end];
        if tag.contains('<') || tag.matches('"').count() % 2 == 1 {
            return Err(tag.to_owned());
        }
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}>"));
            }
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap_or_default());
        }
        rest = &rest[end + 1..];
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?}")) }
}

fn drawing() -> impl Strategy<Value = Drawing> {
    let line = (0..24_usize, 0..24_usize, 0..4_u8);
    let lines = prop::collection::vec(line, 0..60);
    let parents = prop::collection::vec(prop::option::weighted(0.3, 0..24_usize), 24);
    (parents, lines).prop_map(|(parents, lines)| {
        let shape = |(at, parent): (usize, Option<usize>)| Shape {
            id: format!("n{at}"),
            name: (at % 3 == 0).then(|| "a long name ".repeat(at)),
            kind: "join".to_owned(),
            category: None,
            parent,
            mark: None,
        };
        let port = |port: u8| (port > 0).then(|| format!("port{port}"));
        let line = |(from, to, p)| Line { from, port: port(p), to, course: Course::Open };
        Drawing {
            title: "T".to_owned(),
            shapes: parents.into_iter().enumerate().map(shape).collect(),
            lines: lines.into_iter().map(line).collect(),
        }
    })
}

fn holds(outer: Rect, inner: Rect) -> bool {
    outer.x <= inner.x
        && outer.y <= inner.y
        && outer.x + outer.w >= inner.x + inner.w
        && outer.bottom() >= inner.bottom()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn boxes_stand_apart_or_one_inside_of_the_other(drawing in drawing()) {
        let layout = Layout::of(&drawing);
        let nest = nest::Nest::of(&drawing);
        let whole = Rect { x: 0, y: 0, w: layout.width, h: layout.height };
        for (at, a) in layout.boxes.iter().enumerate() {
            prop_assert!(holds(whole, *a));
            if let Some(parent) = nest.parent[at] {
                prop_assert!(holds(layout.boxes[parent], *a));
            }
            for (other, b) in layout.boxes.iter().enumerate().skip(at + 1) {
                if nest.parent[at] == nest.parent[other] {
                    let apart = a.x + a.w < b.x || b.x + b.w < a.x
                        || a.bottom() < b.y || b.bottom() < a.y;
                    prop_assert!(apart, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn every_picture_is_well_formed_and_the_same_each_time(drawing in drawing()) {
        let text = svg(&drawing);
        prop_assert_eq!(well_formed(&text), Ok(()));
        prop_assert_eq!(text, svg(&drawing));
    }

    #[test]
    fn every_node_has_one_line_and_every_edge_is_seen(drawing in drawing()) {
        let rows = rows(&drawing, Strokes::UNICODE);
        let mut shown: Vec<usize> = rows.iter().map(|row| row.shape).collect();
        shown.sort_unstable();
        prop_assert_eq!(shown, (0..drawing.shapes.len()).collect::<Vec<_>>());
        let nest = nest::Nest::of(&drawing);
        let entries = drawing.lines.iter().filter(|l| nest.parent[l.to] == Some(l.from)).count();
        let leads: usize = rows.iter().map(|row| row.leads.len()).sum();
        // A way that leads to one node alone is the line of that node.
        let own = drawing.lines.len() - entries - leads;
        prop_assert!(own <= rows.len());
    }
}

#[test]
fn a_thousand_nodes_find_their_places() {
    let shape = |at: usize| Shape {
        id: format!("node_{at}"),
        name: None,
        kind: "shell".to_owned(),
        category: None,
        parent: None,
        mark: None,
    };
    let line = |from, to| Line { from, port: None, to, course: Course::Open };
    let mut lines: Vec<Line> = (1..1000).map(|at| line((at - 1) / 3, at)).collect();
    lines.extend((0..997).step_by(7).map(|at| line(at, at + 3)));
    let drawing =
        Drawing { title: "Large".to_owned(), shapes: (0..1000).map(shape).collect(), lines };
    let layout = Layout::of(&drawing);
    assert_eq!(layout.boxes.len(), 1000);
    assert_eq!(rows(&drawing, Strokes::UNICODE).len(), 1000);
}
