//! The mark that stands where a value stood: `[redacted:NAME]` for a known
//! value, `[redacted KIND]` for what only looked like a secret. A mark never
//! holds, opens or closes a form of a known value, whatever text stands beside
//! it; that is why one pass is enough and a second finds nothing. Pure.

/// What every mark begins with.
pub(crate) const OPEN_ANY: &str = "[redacted";

/// What the mark of a known value begins with.
pub(crate) const OPEN: &str = "[redacted:";

/// What the mark of a kind begins with.
pub(crate) const OPEN_KIND: &str = "[redacted ";

/// Bytes of a name that a mark shows; longer names are cut.
pub(crate) const LABEL_BYTES: usize = 64;

/// Stand-ins tried for a name that cannot be shown. Only values made up to
/// look like marks use up more than one.
const STAND_INS: usize = 100;

/// Whether a text says nothing but marks. Such a text has lost its meaning on
/// the way and must not be given to anyone as a task.
pub fn is_only_marks(text: &str) -> bool {
    let mut rest = text.trim();
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let inside = rest.strip_prefix(OPEN).or_else(|| rest.strip_prefix(OPEN_KIND));
        let Some((label, after)) = inside.and_then(|inside| inside.split_once(']')) else {
            return false;
        };
        if label.is_empty() || !label.bytes().all(is_label_byte) {
            return false;
        }
        rest = after.trim_start();
    }
    true
}

/// The mark for what is called `name`. Where the name would give a known form
/// away or form one with the text beside it, a number stands for it.
pub(crate) fn choose<'a>(
    open: &str,
    name: &str,
    number: usize,
    forms: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let named = render(open, &label(name));
    let stand_ins = (number..number + STAND_INS).map(|n| render(open, &n.to_string()));
    std::iter::once(named)
        .chain(stand_ins)
        .find(|mark| !forms.clone().any(|form| clashes(mark, form)))
        .unwrap_or_else(|| render(open, &number.to_string()))
}

/// Whether a form could be found in a text because of the mark: inside it, or
/// across one of its borders.
pub(crate) fn clashes(mark: &str, form: &str) -> bool {
    if mark.contains(form) || form.contains(mark) {
        return true;
    }
    // An overlap at a border holds the bracket of that border.
    if !form.contains(['[', ']']) {
        return false;
    }
    let (mark, form) = (mark.as_bytes(), form.as_bytes());
    (1..mark.len().min(form.len())).any(|shared| {
        mark.ends_with(&form[..shared]) || mark.starts_with(&form[form.len() - shared..])
    })
}

fn render(open: &str, label: &str) -> String {
    format!("{open}{label}]")
}

fn label(name: &str) -> String {
    let label: String = name
        .chars()
        .map(|c| if c.is_ascii() && is_label_byte(c as u8) { c } else { '_' })
        .take(LABEL_BYTES)
        .collect();
    if label.is_empty() { "value".to_owned() } else { label }
}

pub(crate) fn is_label_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark_for(name: &str, forms: &[&str]) -> String {
        choose(OPEN, name, 3, forms.iter().copied())
    }

    #[test]
    fn a_name_is_shown_as_it_is() {
        assert_eq!(mark_for("github.token-2", &["hunter22"]), "[redacted:github.token-2]");
    }

    #[test]
    fn a_name_with_other_signs_stays_readable() {
        assert_eq!(mark_for("my [key]: ü\n", &[]), "[redacted:my__key_____]");
        assert_eq!(mark_for("", &[]), "[redacted:value]");
        assert_eq!(mark_for(&"n".repeat(500), &[]).len(), OPEN.len() + LABEL_BYTES + 1);
    }

    #[test]
    fn a_name_that_holds_a_value_gives_way_to_a_number() {
        assert_eq!(mark_for("github_token", &["github"]), "[redacted:3]");
        assert_eq!(mark_for("hunter22", &["hunter22"]), "[redacted:3]");
        assert_eq!(mark_for("n", &["n]and more"]), "[redacted:3]");
        assert_eq!(mark_for("n", &["d:n]xx", "ted:3"]), "[redacted:4]");
    }

    #[test]
    fn a_text_of_marks_alone_is_noticed() {
        for text in [
            "[redacted:a]",
            "  [redacted:a]\n[redacted:b.c-d]",
            "[redacted:a][redacted:1]",
            "[redacted jwt] [redacted:a]",
        ] {
            assert!(is_only_marks(text), "{text:?}");
        }
    }

    #[test]
    fn a_text_with_something_to_say_is_not_only_marks() {
        for text in [
            "",
            "  ",
            "review [redacted:a]",
            "[redacted:a] review",
            "[redacted:]",
            "[redacted:a",
            "[redacted:do as you are told]",
            "[redacted]",
            "[redacted ]",
            "[redacted by me]",
        ] {
            assert!(!is_only_marks(text), "{text:?}");
        }
    }
}
