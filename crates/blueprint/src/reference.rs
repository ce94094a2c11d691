//! The reference pages that derive from the registry and from the rules, as
//! Markdown. They are written into the documentation, and a test compares.

use crate::node_type::{self, Field, NodeType};
use crate::{Rule, explain};

const WRITTEN: &str = "<!-- written by `cargo xtask generate` -->";

/// One part for each node type.
pub fn node_types() -> String {
    let mut text = format!(
        "{WRITTEN}\n\n# Node types\n\n\
         `wardian automation node-types` shows this in a terminal.\n\n\
         | type | category | ways in | ways out | what it does |\n|---|---|---|---|---|\n"
    );
    for node_type in node_type::all() {
        text.push_str(&format!(
            "| [`{id}`](#{id}) | {} | {} | {} | {} |\n",
            node_type.category.word(),
            node_type.ways_in(),
            node_type.ways_out(),
            cell(&what(node_type)),
            id = node_type.id,
        ));
    }
    for node_type in node_type::all() {
        text.push_str(&part(node_type));
    }
    text
}

/// One part for each rule.
pub fn findings() -> String {
    let mut text = format!(
        "{WRITTEN}\n\n# Findings\n\n\
         What `wardian automation validate` reports, by code.\n\
         `wardian automation explain CODE` shows one of these pages in a terminal.\n\
         An example that does not begin with `---` leaves out the first keys of its\n\
         front matter.\n\n| code | what it reports |\n|---|---|\n"
    );
    for rule in Rule::ALL {
        text.push_str(&format!("| [`{rule}`](#{rule}) | {} |\n", cell(rule.title())));
    }
    for rule in Rule::ALL {
        text.push_str(&format!("\n#{}", explain::page(*rule)));
    }
    text
}

/// What it does, and whether it can run.
fn what(node_type: &NodeType) -> String {
    let not_yet = if node_type.supported() { "" } else { " Cannot run yet." };
    format!("{}{not_yet}", node_type.description)
}

fn part(node_type: &NodeType) -> String {
    let mut text = format!("\n## {}\n\n{}\n", node_type.id, what(node_type));
    text.push_str(&format!(
        "\nWays in: {}. Ways out: {}.\n",
        node_type.ways_in(),
        node_type.ways_out()
    ));
    if !node_type.fields.is_empty() {
        text.push_str("\n| field | value | | help |\n|---|---|---|---|\n");
        node_type.fields.iter().for_each(|field| text.push_str(&row(field)));
    }
    let keys = node_type.keys();
    if !keys.is_empty() {
        text.push_str("\n| key of the node | default | help |\n|---|---|---|\n");
        for key in keys {
            text.push_str(&format!("| `{}` | {} | {} |\n", key.id, key.default, cell(key.help)));
        }
    }
    text
}

fn row(field: &Field) -> String {
    let places = if field.templated { ", with `{{…}}`" } else { "" };
    let need = match (field.required, field.default) {
        (_, Some(default)) => format!("default `{default}`"),
        (true, None) => "required".to_owned(),
        (false, None) => String::new(),
    };
    format!("| `{}` | {}{places} | {need} | {} |\n", field.id, field.form(), cell(field.help))
}

/// A text inside of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_part_for_everything_it_lists() {
        let (types, rules) = (node_types(), findings());
        for node_type in node_type::all() {
            assert!(types.contains(&format!("\n## {}\n", node_type.id)));
        }
        for rule in Rule::ALL {
            assert!(rules.contains(&format!("\n## {rule}\n")));
        }
        for page in [types, rules] {
            assert!(page.ends_with('\n') && !page.contains("\n\n\n"));
        }
    }

    #[test]
    fn the_part_of_one_type_is_this() {
        insta::assert_snapshot!(part(node_type::find("script").expect("there is one")));
    }
}
