//! Names on their way into a drawing: one line, nothing that hides or
//! reorders text, no longer than a picture can show.

/// A name as one line of visible characters.
pub(super) fn plain(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if is_hidden(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// The same, cut to a width in tenths of the height of a letter.
pub(super) fn cut(text: &str, most: u32) -> String {
    let text = plain(text);
    if width(&text) <= most {
        return text;
    }
    let mut kept = String::new();
    let mut used = char_width('…');
    for c in text.chars() {
        used += char_width(c);
        if used > most {
            break;
        }
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

/// About how wide a text is, in tenths of the height of its letters. Fonts
/// differ; who draws leaves some room.
pub(super) fn width(text: &str) -> u32 {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> u32 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' => 4,
        'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '-' | '/' => 5,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 10,
        'A'..='Z' | '_' => 8,
        ' '..='~' => 7,
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' => 10,
        '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' => 10,
        '\u{1f000}'..='\u{3ffff}' => 13,
        _ => 7,
    }
}

/// Characters that no reader sees, or that no document may hold.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_one_visible_line() {
        assert_eq!(plain("a\nb\u{1b}[2J\u{202e}c"), "a b\u{fffd}[2J\u{fffd}c");
    }

    #[test]
    fn a_long_name_is_cut_to_its_width() {
        assert_eq!(cut("short", 100), "short");
        let shown = cut(&"wide ".repeat(50), 100);
        assert!(shown.ends_with('…') && width(&shown) <= 100, "{shown}");
        assert!(width(&cut(&"世".repeat(50), 100)) <= 100);
    }
}
