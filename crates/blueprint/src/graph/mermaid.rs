//! A drawing as a Mermaid flowchart. Every name is a quoted label in which
//! all but letters, digits and a few signs are numbered entities, so that it
//! can be neither syntax nor the Markdown that labels may hold; the ids are
//! ours.

use super::nest::Nest;
use super::{Drawing, Shape, label};
use crate::node_type::Category;

pub fn mermaid(drawing: &Drawing) -> String {
    let nest = Nest::of(drawing);
    let mut text = String::from("flowchart TD\n");
    for at in &nest.top {
        node(drawing, &nest, *at, 1, &mut text);
    }
    for line in &drawing.lines {
        let port = line.port.as_ref().map(|port| format!("|\"{}\"|", quoted(port)));
        let port = port.unwrap_or_default();
        text.push_str(&format!("  n{} -->{port} n{}\n", line.from, line.to));
    }
    text
}

fn node(drawing: &Drawing, nest: &Nest, at: usize, depth: usize, text: &mut String) {
    let shape = &drawing.shapes[at];
    let indent = "  ".repeat(depth);
    let (open, close) = brackets(shape);
    let own = format!("n{at}{open}\"{}\"{close}", quoted(&caption(shape)));
    if nest.inside[at].is_empty() {
        text.push_str(&format!("{indent}{own}\n"));
        return;
    }
    text.push_str(&format!("{indent}subgraph g{at}[\"{}\"]\n", quoted(shape.label())));
    text.push_str(&format!("{indent}  {own}\n"));
    for inner in &nest.inside[at] {
        node(drawing, nest, *inner, depth + 1, text);
    }
    text.push_str(&format!("{indent}end\n"));
}

fn caption(shape: &Shape) -> String {
    let sign = shape.mark.map(|mark| format!("{} ", mark.sign)).unwrap_or_default();
    format!("{sign}{} ({})", shape.label(), shape.kind)
}

fn brackets(shape: &Shape) -> (&'static str, &'static str) {
    match shape.category {
        Some(Category::Triggers) => ("([", "])"),
        Some(Category::Agents) => ("(", ")"),
        Some(Category::Control) => ("{{", "}}"),
        Some(Category::Data) => ("[(", ")]"),
        Some(Category::Actions) | None => ("[", "]"),
    }
}

fn quoted(text: &str) -> String {
    let mut shown = String::new();
    for c in label::plain(text).chars() {
        if c.is_alphanumeric() || matches!(c, ' ' | ',' | '?' | '(' | ')' | '_') {
            shown.push(c);
        } else {
            shown.push_str(&format!("#{};", u32::from(c)));
        }
    }
    shown
}
