//! A drawing in the language of Graphviz. Names stand in quotes, their
//! quotes, back-slashes and ampersands escaped; the ids are ours.

use super::nest::Nest;
use super::{Drawing, Shape, label};
use crate::node_type::Category;

pub fn dot(drawing: &Drawing) -> String {
    let nest = Nest::of(drawing);
    let mut text = format!("digraph \"{}\" {{\n", quoted(&drawing.title));
    text.push_str("  rankdir=TB;\n  node [fontname=\"sans-serif\", fontsize=11];\n");
    text.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for at in &nest.top {
        node(drawing, &nest, *at, 1, &mut text);
    }
    for line in &drawing.lines {
        let port = line.port.as_ref().map(|port| format!(" [label=\"{}\"]", quoted(port)));
        text.push_str(&format!("  n{} -> n{}{};\n", line.from, line.to, port.unwrap_or_default()));
    }
    text.push_str("}\n");
    text
}

fn node(drawing: &Drawing, nest: &Nest, at: usize, depth: usize, text: &mut String) {
    let shape = &drawing.shapes[at];
    let indent = "  ".repeat(depth);
    let sign = shape.mark.map(|mark| format!("{} ", mark.sign)).unwrap_or_default();
    let caption = format!("{sign}{}\\n{}", quoted(shape.label()), quoted(&shape.kind));
    let own = format!("n{at} [label=\"{caption}\", {}];", outline(shape));
    if nest.inside[at].is_empty() {
        text.push_str(&format!("{indent}{own}\n"));
        return;
    }
    text.push_str(&format!("{indent}subgraph cluster_{at} {{\n"));
    text.push_str(&format!("{indent}  label=\"{}\"; style=rounded;\n", quoted(shape.label())));
    text.push_str(&format!("{indent}  {own}\n"));
    for inner in &nest.inside[at] {
        node(drawing, nest, *inner, depth + 1, text);
    }
    text.push_str(&format!("{indent}}}\n"));
}

fn outline(shape: &Shape) -> &'static str {
    match shape.category {
        Some(Category::Triggers) => "shape=oval",
        Some(Category::Agents) => "shape=box, style=rounded",
        Some(Category::Control) => "shape=hexagon",
        Some(Category::Data) => "shape=cylinder",
        Some(Category::Actions) | None => "shape=box",
    }
}

fn quoted(text: &str) -> String {
    let mut shown = String::new();
    for c in label::plain(text).chars() {
        match c {
            '"' => shown.push_str("\\\""),
            '\\' => shown.push_str("\\\\"),
            // Graphviz reads entities of HTML in every label.
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            c => shown.push(c),
        }
    }
    shown
}
