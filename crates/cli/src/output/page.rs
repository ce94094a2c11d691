//! A page of Markdown on a terminal: headings stand out, code is set in, and
//! the fences around it are gone. Pure.

use crate::style::{Paint, Style};

/// The page, its first heading followed by what it is about.
pub(crate) fn render(page: &str, title: &str, style: Style) -> String {
    let mut lines = Vec::new();
    let mut in_code = false;
    for line in page.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            lines.push(format!("    {line}").trim_end().to_owned());
        } else if let Some(heading) = line.strip_prefix("# ") {
            lines.push(format!("{}: {title}", style.paint(Paint::Strong, heading)));
        } else if line.starts_with("Wrong") {
            lines.push(style.paint(Paint::Bad, line));
        } else if line.starts_with("Right") {
            lines.push(style.paint(Paint::Good, line));
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_set_in_and_its_fences_are_gone() {
        let page = "# a_code\n\nText.\n\nWrong:\n\n```yaml bad\na: 1\n\nb: 2\n```\n";
        let shown = render(page, "What it is", Style::PLAIN);
        insta::assert_snapshot!(shown, @r"
        a_code: What it is

        Text.

        Wrong:

            a: 1

            b: 2
        ");
    }
}
