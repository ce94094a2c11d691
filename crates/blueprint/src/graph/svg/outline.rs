//! The outline of a shape, by its category.

use crate::graph::Rect;
use crate::graph::layout::LEAN;
use crate::node_type::Category;

pub(super) fn of(category: Option<Category>, rect: Rect) -> String {
    let Rect { x, y, w, h } = rect;
    let (right, bottom, middle) = (x + w, y + h, y + h / 2);
    let path = match category {
        Some(Category::Triggers) => return rounded(rect, h / 2),
        Some(Category::Agents) => return rounded(rect, 10),
        Some(Category::Actions) | None => return rounded(rect, 2),
        Some(Category::Control) => format!(
            "M{} {y}H{}L{right} {middle}L{} {bottom}H{}L{x} {middle}Z",
            x + LEAN,
            right - LEAN,
            right - LEAN,
            x + LEAN
        ),
        Some(Category::Data) => {
            format!("M{} {y}H{right}L{} {bottom}H{x}Z", x + LEAN, right - LEAN)
        }
    };
    format!("<path class=\"outline\" d=\"{path}\"/>")
}

fn rounded(rect: Rect, radius: i32) -> String {
    let Rect { x, y, w, h } = rect;
    format!(
        "<rect class=\"outline\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{radius}\"/>"
    )
}
