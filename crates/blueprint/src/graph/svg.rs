//! A drawing as a picture that stands alone: no script, no font, nothing from
//! elsewhere. It follows the reader's light or dark. The shape of a box tells
//! what sort of node it is, and so does its color.

mod outline;

use super::layout::{self, HEAD, Point, SMALL, TALL};
use super::{Course, Drawing, Layout, Rect, Tone, label};
use crate::node_type::Category;

const STYLE: &str = include_str!("svg/style.css");

pub fn svg(drawing: &Drawing) -> String {
    let layout = Layout::of(drawing);
    let (w, h) = (layout.width, layout.height);
    let title = escape(&label::plain(&drawing.title));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wardian-graph\" role=\"img\" \
         width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n<rect class=\"paper\" width=\"{w}\" height=\"{h}\"/>\n"
    );
    for at in &layout.containers {
        container(drawing, *at, layout.boxes[*at], &mut text);
    }
    for at in 0..drawing.lines.len() {
        line(drawing, &layout, at, &mut text);
    }
    for (at, rect) in layout.boxes.iter().enumerate() {
        if !layout.containers.contains(&at) {
            shape(drawing, at, *rect, &mut text);
        }
    }
    for at in 0..drawing.lines.len() {
        port(drawing, &layout, at, &mut text);
    }
    text.push_str("</svg>\n");
    text
}

fn container(drawing: &Drawing, at: usize, rect: Rect, text: &mut String) {
    let Rect { x, y, w, h } = rect;
    text.push_str(&open_group(drawing, at, "box"));
    text.push_str(&format!(
        "<rect class=\"body\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"12\"/>"
    ));
    words(drawing, at, Rect { h: HEAD + 4, ..rect }, text);
    badge(drawing, at, rect, text);
    text.push_str("</g>\n");
}

fn shape(drawing: &Drawing, at: usize, rect: Rect, text: &mut String) {
    text.push_str(&open_group(drawing, at, "node"));
    text.push_str(&outline::of(drawing.shapes[at].category, rect));
    words(drawing, at, rect, text);
    badge(drawing, at, rect, text);
    text.push_str("</g>\n");
}

fn open_group(drawing: &Drawing, at: usize, what: &str) -> String {
    let shape = &drawing.shapes[at];
    let sort = shape.category.map_or("unknown", Category::word);
    let tone = shape.mark.map(|mark| format!(" {}", tone(mark.tone))).unwrap_or_default();
    let full =
        format!("{} · {}", label::plain(shape.label()), label::plain(&layout::second_line(shape)));
    format!("<g class=\"{what} {sort}{tone}\"><title>{}</title>", escape(&full))
}

/// The name, and below it what sort of node it is.
fn words(drawing: &Drawing, at: usize, rect: Rect, text: &mut String) {
    let shape = &drawing.shapes[at];
    let room = u32::try_from(rect.w - 22 - 2 * layout::lean(shape)).unwrap_or(0);
    let fit =
        |text: &str, height: i32| escape(&label::cut(text, room * 10 / height.unsigned_abs()));
    let (x, y) = (rect.middle(), rect.y + rect.h / 2);
    let (name, kind) = (fit(shape.label(), TALL), fit(&layout::second_line(shape), SMALL));
    text.push_str(&format!(
        "<text class=\"name\" x=\"{x}\" y=\"{}\">{name}</text>\
         <text class=\"kind\" x=\"{x}\" y=\"{}\">{kind}</text>",
        y - 3,
        y + 13
    ));
}

/// How the node stands in a run, by sign and color. Where nothing happened
/// the word below the name is enough.
fn badge(drawing: &Drawing, at: usize, rect: Rect, text: &mut String) {
    let mark = drawing.shapes[at].mark.filter(|mark| mark.tone != Tone::Quiet);
    let Some(mark) = mark else { return };
    let (x, y) = (rect.x + rect.w - 4, rect.y + 4);
    text.push_str(&format!(
        "<circle class=\"badge\" cx=\"{x}\" cy=\"{y}\" r=\"9\"/>\
         <text class=\"sign\" x=\"{x}\" y=\"{}\">{}</text>",
        y + 4,
        escape(mark.sign)
    ));
}

fn line(drawing: &Drawing, layout: &Layout, at: usize, text: &mut String) {
    let route = &layout.routes[at];
    let course = match drawing.lines[at].course {
        Course::Open => "",
        Course::Taken => " taken",
        Course::Passed => " passed",
    };
    let back = if route.backward { " back" } else { "" };
    let (start, end) = (route.points[0], route.points[route.points.len() - 1]);
    let tip = Point { x: end.x, y: end.y - 6 };
    let path = if drawing.lines[at].from == drawing.lines[at].to {
        loop_beside(layout.boxes[drawing.lines[at].from], tip)
    } else {
        let mut path = format!("M{} {}", start.x, start.y);
        let way = &route.points[..route.points.len() - 1];
        for (from, to) in way.iter().zip(way.iter().skip(1).chain([&tip])) {
            path.push_str(&step(*from, *to));
        }
        path
    };
    let Point { x, y } = end;
    text.push_str(&format!(
        "<g class=\"edge{course}{back}\"><path class=\"way\" d=\"{path}\"/>\
         <path class=\"tip\" d=\"M{} {}H{}L{x} {y}Z\"/></g>\n",
        x - 4,
        y - 8,
        x + 4
    ));
}

/// From one place to the next: straight down, or in a curve that begins and
/// ends downwards.
fn step(from: Point, to: Point) -> String {
    if from.x == to.x && from.y <= to.y {
        return format!("V{}", to.y);
    }
    let bow = ((to.y - from.y).abs() / 2).clamp(14, 60);
    format!("C{} {} {} {} {} {}", from.x, from.y + bow, to.x, to.y - bow, to.x, to.y)
}

/// From the right side of a shape back to its top.
fn loop_beside(rect: Rect, tip: Point) -> String {
    let (x, y) = (rect.x + rect.w, rect.y + rect.h / 2);
    format!("M{x} {y}C{} {y} {} {} {} {}", x + 26, tip.x, tip.y - 34, tip.x, tip.y)
}

fn port(drawing: &Drawing, layout: &Layout, at: usize, text: &mut String) {
    let route = &layout.routes[at];
    let Some(port) = drawing.lines[at].port.as_ref().filter(|_| route.labels) else { return };
    let Point { x, y } = route.points[0];
    let name = escape(&label::cut(port, 140));
    text.push_str(&format!(
        "<text class=\"port\" x=\"{}\" y=\"{}\">{name}</text>\n",
        x + 5,
        y + 14
    ));
}

fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Waiting => "waiting",
        Tone::Active => "active",
        Tone::Quiet => "quiet",
    }
}

fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            c => shown.push(c),
        }
    }
    shown
}
