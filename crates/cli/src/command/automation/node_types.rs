//! `wardian automation node-types`.

use blueprint::node_type::{self, Field, NodeType};
use host::api::json;

use crate::args::NodeTypesArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::table::{self, Cell};
use crate::style::{Paint, Style};

pub(crate) fn run(console: &Console, args: &NodeTypesArgs) -> Result<Exit, CliError> {
    let types: Vec<&'static NodeType> = match &args.node_type {
        None => node_type::all().collect(),
        Some(id) => vec![node_type::find(id).ok_or_else(|| {
            CliError::usage(
                format!("there is no node type `{id}`"),
                format!("`{} automation node-types` lists them", console.program),
            )
        })?],
    };
    if console.json {
        console.document(&json::node_types(&types))?;
        return Ok(Exit::Done);
    }
    match (&args.node_type, &types[..]) {
        (Some(_), [one]) => console.line(&page(one, console.style))?,
        (_, all) => console.line(&list(all, console.style))?,
    }
    Ok(Exit::Done)
}

fn list(types: &[&'static NodeType], style: Style) -> String {
    let row = |node_type: &&'static NodeType| {
        let id = if node_type.supported() { Paint::Strong } else { Paint::Faint };
        vec![
            Cell::painted(id, node_type.id),
            Cell::plain(node_type.category.word()),
            Cell::plain(node_type.ways_in()),
            Cell::plain(node_type.ways_out()),
            Cell::plain(what(node_type)),
        ]
    };
    let rows: Vec<_> = types.iter().map(row).collect();
    table::render(&["TYPE", "CATEGORY", "WAYS IN", "WAYS OUT", "WHAT IT DOES"], &rows, style)
}

fn page(node_type: &NodeType, style: Style) -> String {
    let faint = |text: &str| style.paint(Paint::Faint, text);
    let mut lines = vec![
        format!(
            "{}  {}",
            style.paint(Paint::Strong, node_type.id),
            faint(node_type.category.word())
        ),
        what(node_type),
        String::new(),
        format!("{} {}", faint("ways in "), node_type.ways_in()),
        format!("{} {}", faint("ways out"), node_type.ways_out()),
    ];
    if !node_type.fields.is_empty() {
        let rows: Vec<_> = node_type.fields.iter().map(field).collect();
        lines.push(String::new());
        lines.push(table::render(&["FIELD", "VALUE", "", "HELP"], &rows, style));
    }
    let keys = node_type.keys();
    if !keys.is_empty() {
        let row = |key: &node_type::NodeKey| {
            let cells = [key.default, key.help].map(Cell::plain);
            [vec![Cell::painted(Paint::Strong, key.id)], cells.to_vec()].concat()
        };
        let rows: Vec<_> = keys.iter().map(row).collect();
        lines.push(String::new());
        lines.push(table::render(&["KEY OF THE NODE", "DEFAULT", "HELP"], &rows, style));
    }
    lines.join("\n")
}

fn field(field: &Field) -> Vec<Cell> {
    let need = match (field.required, field.default) {
        (_, Some(default)) => format!("default {default}"),
        (true, None) => "required".to_owned(),
        (false, None) => String::new(),
    };
    let places = if field.templated { " with {{…}}" } else { "" };
    vec![
        Cell::painted(Paint::Strong, field.id),
        Cell::plain(format!("{}{places}", field.form())),
        Cell::plain(need),
        Cell::plain(field.help),
    ]
}

fn what(node_type: &NodeType) -> String {
    let not_yet = if node_type.supported() { "" } else { " Cannot run yet." };
    format!("{}{not_yet}", node_type.description)
}
