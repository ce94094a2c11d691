//! Documents about what there is to write with, and what was written: node
//! types, rules, graphs.

use blueprint::graph::Drawing;
use blueprint::node_type::NodeType;
use blueprint::{Rule, explain};
use serde::Serialize;

use super::SCHEMA;

/// Node types, each as the registry has it.
pub fn node_types(types: &[&'static NodeType]) -> NodeTypesDocument {
    NodeTypesDocument { schema: SCHEMA, node_types: types.to_vec() }
}

/// The codes that findings have, without their pages.
pub fn rules() -> RulesDocument {
    let row = |rule: &Rule| RuleRow { code: rule.code(), title: rule.title(), page: None };
    RulesDocument { schema: SCHEMA, rules: Rule::ALL.iter().map(row).collect() }
}

/// One rule with its page, as Markdown.
pub fn rule(rule: Rule) -> RuleDocument {
    let page = Some(explain::page(rule));
    RuleDocument { schema: SCHEMA, rule: RuleRow { code: rule.code(), title: rule.title(), page } }
}

/// A graph, and of a run how it stands.
pub fn graph(drawing: &Drawing) -> GraphDocument<'_> {
    let id = |at: usize| drawing.shapes[at].id.as_str();
    let node = |shape: &'_ blueprint::graph::Shape| GraphNode {
        id: shape.id.clone(),
        name: shape.name.clone(),
        node_type: shape.kind.clone(),
        parent: shape.parent.map(|parent| id(parent).to_owned()),
        status: shape.mark.map(|mark| mark.word),
    };
    let edge = |line: &'_ blueprint::graph::Line| GraphEdge {
        from: id(line.from).to_owned(),
        from_port: line.port.clone().unwrap_or_else(|| "out".to_owned()),
        to: id(line.to).to_owned(),
    };
    GraphDocument {
        schema: SCHEMA,
        name: &drawing.title,
        nodes: drawing.shapes.iter().map(node).collect(),
        edges: drawing.lines.iter().map(edge).collect(),
    }
}

#[derive(Debug, Serialize)]
pub struct NodeTypesDocument {
    schema: u32,
    node_types: Vec<&'static NodeType>,
}

#[derive(Debug, Serialize)]
pub struct RulesDocument {
    schema: u32,
    rules: Vec<RuleRow>,
}

#[derive(Debug, Serialize)]
pub struct RuleDocument {
    schema: u32,
    rule: RuleRow,
}

#[derive(Debug, Serialize)]
struct RuleRow {
    code: &'static str,
    title: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub struct GraphDocument<'a> {
    schema: u32,
    name: &'a str,
    nodes: Vec<GraphNode>,
    edges: Vec<GraphEdge>,
}

#[derive(Debug, Serialize)]
struct GraphNode {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(rename = "type")]
    node_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct GraphEdge {
    from: String,
    from_port: String,
    to: String,
}
