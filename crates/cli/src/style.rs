//! How text looks: color or none, Unicode signs or ASCII. Nothing is told
//! by color alone. What the environment says is read elsewhere and handed
//! in. Pure.

use host::api::{Look, NodeStatus, node_icon};

/// The choice on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

/// What is known of a place to write to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) when: When,
    pub(crate) is_terminal: bool,
    pub(crate) settings: &'a Settings,
}

/// What the environment says about looks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) no_color: bool,
    pub(crate) force_color: bool,
    pub(crate) dumb_terminal: bool,
    pub(crate) unicode: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) color: bool,
    pub(crate) unicode: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Good,
    Bad,
    Attention,
    Accent,
    Strong,
    Faint,
}

impl Style {
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self { color: false, unicode: true };

    pub(crate) fn of(place: Place<'_>) -> Self {
        let Settings { no_color, force_color, dumb_terminal, unicode } = *place.settings;
        let color = match place.when {
            When::Always => true,
            When::Never => false,
            When::Auto if no_color => false,
            When::Auto if force_color => true,
            When::Auto => place.is_terminal && !dumb_terminal,
        };
        Self { color, unicode }
    }

    pub(crate) fn paint(self, paint: Paint, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match paint {
            Paint::Good => "32",
            Paint::Bad => "1;31",
            Paint::Attention => "1;33",
            Paint::Accent => "36",
            Paint::Strong => "1",
            Paint::Faint => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// A sign, or its twin where only ASCII can be shown.
    pub(crate) fn sign(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    pub(crate) fn arrow(self) -> &'static str {
        self.sign("→", "->")
    }

    pub(crate) fn node_icon(self, status: NodeStatus) -> String {
        let (unicode, ascii) = node_icon(status);
        let paint = match status {
            NodeStatus::Completed => Paint::Good,
            NodeStatus::Failed | NodeStatus::Unknown => Paint::Bad,
            NodeStatus::Waiting => Paint::Attention,
            NodeStatus::Running => Paint::Accent,
            NodeStatus::Pending | NodeStatus::Skipped | NodeStatus::Cancelled => Paint::Faint,
        };
        self.paint(paint, self.sign(unicode, ascii))
    }

    pub(crate) fn run_icon(self, look: Look) -> String {
        self.paint(run_paint(look), self.sign(look.icon, look.ascii))
    }

    pub(crate) fn run_word(self, look: Look, word: &str) -> String {
        self.paint(run_paint(look), word)
    }
}

/// A run is colored by what a command that waited for it would exit with.
pub(crate) fn run_paint(look: Look) -> Paint {
    match look.exit {
        0 => Paint::Good,
        11 => Paint::Attention,
        _ => Paint::Bad,
    }
}

/// Whether a locale, as `LC_ALL`, `LC_CTYPE` or `LANG` name it, is UTF-8.
pub(crate) fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn color(when: When, is_terminal: bool, settings: &Settings) -> bool {
        Style::of(Place { when, is_terminal, settings }).color
    }

    #[test]
    fn color_is_for_terminals_unless_somebody_says_otherwise() {
        let settings = |no_color, force_color, dumb_terminal| Settings {
            no_color,
            force_color,
            dumb_terminal,
            unicode: true,
        };
        assert!(color(When::Auto, true, &settings(false, false, false)));
        assert!(!color(When::Auto, false, &settings(false, false, false)));
        assert!(!color(When::Auto, true, &settings(true, false, false)));
        assert!(!color(When::Auto, true, &settings(false, false, true)));
        assert!(color(When::Auto, false, &settings(false, true, false)));
    }

    #[test]
    fn the_flag_outweighs_the_environment() {
        let both = Settings { no_color: true, force_color: true, ..Settings::default() };
        assert!(!color(When::Auto, true, &both));
        assert!(color(When::Always, false, &both));
        assert!(!color(When::Never, true, &both));
    }

    #[test]
    fn signs_have_ascii_twins() {
        let ascii = Style { color: false, unicode: false };
        assert_eq!(ascii.arrow(), "->");
        for status in NodeStatus::ALL {
            assert!(ascii.node_icon(*status).is_ascii());
        }
    }

    #[test]
    fn locales_are_told_apart() {
        assert!(is_utf8("en_US.UTF-8") && is_utf8("C.utf8"));
        assert!(!is_utf8("C") && !is_utf8("POSIX") && !is_utf8(""));
    }
}
