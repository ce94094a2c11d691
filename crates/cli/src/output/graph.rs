//! A graph as lines: the tree on the left, then what sort of node it is, what
//! people call it, and where else it leads. Pure.

use blueprint::graph::{Drawing, Lead, Row, Shape, Strokes, Tone, rows};

use super::table::{self, Cell};
use super::{escape, gist};
use crate::style::{Paint, Style};

/// Letters of a name; what it leads to stands behind it.
const NAME: usize = 44;

/// The lines below the name of the automation, without a last line end.
pub(crate) fn render(drawing: &Drawing, style: Style) -> String {
    let strokes = if style.unicode { Strokes::UNICODE } else { Strokes::ASCII };
    let rows = rows(drawing, strokes);
    let cells: Vec<_> = rows.iter().map(|row| cells(drawing, row, style)).collect();
    let title = style.paint(Paint::Strong, &escape::line(&drawing.title));
    let header = ["NODE", "TYPE", "NAME", "LEADS ON TO"];
    format!("{title}\n\n{}", table::render(&header, &cells, style))
}

fn cells(drawing: &Drawing, row: &Row, style: Style) -> Vec<Cell> {
    let shape = &drawing.shapes[row.shape];
    let port = row.port.as_ref().map(|port| format!("{}: ", escape::line(port)));
    let sign = shape.mark.map(|mark| format!("{} ", style.sign(mark.sign, mark.ascii)));
    let (port, sign) = (port.unwrap_or_default(), sign.unwrap_or_default());
    let node = format!("{}{sign}{port}{}", row.stem, escape::line(&shape.id));
    let leads: Vec<String> = row.leads.iter().map(|to| lead(drawing, to, style)).collect();
    let name = shape.name.as_deref().unwrap_or_default();
    vec![
        Cell { text: node, paint: paint(shape) },
        Cell::plain(escape::line(&shape.kind)),
        Cell::plain(gist::first_line(name, NAME)),
        Cell::painted(Paint::Faint, leads.join(", ")),
    ]
}

fn lead(drawing: &Drawing, lead: &Lead, style: Style) -> String {
    let to = escape::line(&drawing.shapes[lead.to].id);
    match &lead.port {
        Some(port) => format!("{} {} {to}", escape::line(port), style.arrow()),
        None => format!("{} {to}", style.arrow()),
    }
}

fn paint(shape: &Shape) -> Option<Paint> {
    shape.mark.map(|mark| match mark.tone {
        Tone::Good => Paint::Good,
        Tone::Bad => Paint::Bad,
        Tone::Waiting => Paint::Attention,
        Tone::Active => Paint::Accent,
        Tone::Quiet => Paint::Faint,
    })
}
