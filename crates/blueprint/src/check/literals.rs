//! Texts without places that only their meaning can judge: moments and
//! addresses. One with a place is judged by the run, when its value is there.

use durable::Timestamp;

use super::Sink;
use crate::draft::DraftNode;
use crate::yaml::{Entry, shorten};
use crate::{Http, Kind, Rule, Template, Wait};

const MOMENT: &str = "write for example `2027-01-31T09:00:00Z` or `2027-01-31T09:00:00+01:00`";
const ADDRESS: &str = "write for example `https://example.com/path`";

/// Headers that the request itself decides.
const OWN_HEADERS: [&str; 4] = ["host", "content-length", "transfer-encoding", "connection"];

/// Reports what is wrong with the texts of a node that compiled.
pub(super) fn judge(node: &DraftNode<'_>, kind: &Kind, sink: &mut Sink<'_>) {
    let field = |id: &str| node.fields.and_then(|fields| fields.get(id));
    match kind {
        Kind::Wait(Wait::Until(moment)) => {
            if let Some(entry) = field("until") {
                judge_moment(moment, entry, sink);
            }
        }
        Kind::Http(http) => {
            if let Some(entry) = field("url") {
                judge_address(&http.url, entry, sink);
            }
            if let Some(entry) = field("body") {
                judge_body(http, entry, sink);
            }
        }
        Kind::Wait(Wait::For(_))
        | Kind::ManualTrigger { .. }
        | Kind::Task { .. }
        | Kind::Decision { .. }
        | Kind::Branch { .. }
        | Kind::Loop { .. }
        | Kind::ForEach { .. }
        | Kind::Join
        | Kind::SubAutomation { .. }
        | Kind::Approval { .. }
        | Kind::Shell { .. }
        | Kind::Script { .. }
        | Kind::State { .. }
        | Kind::Notify { .. } => {}
    }
}

/// Whether the request itself decides what this header says.
pub(super) fn is_own_header(name: &str) -> bool {
    OWN_HEADERS.iter().any(|own| name.eq_ignore_ascii_case(own))
}

fn judge_moment(moment: &Template, entry: &Entry<'_>, sink: &mut Sink<'_>) {
    let Some(text) = moment.literal() else { return };
    if text.trim().parse::<Timestamp>().is_err() {
        let message = format!("`{}` is no moment with a date, a time and an offset", shorten(text));
        sink.error(Rule::InvalidWait, &entry.value.span, message).suggest(MOMENT);
    }
}

fn judge_address(url: &Template, entry: &Entry<'_>, sink: &mut Sink<'_>) {
    let Some(fault) = url.literal().and_then(|text| address_fault(text.trim())) else { return };
    let message = format!("`url` {fault}");
    sink.error(Rule::InvalidFieldValue, &entry.value.span, message).suggest(ADDRESS);
}

fn judge_body(http: &Http, entry: &Entry<'_>, sink: &mut Sink<'_>) {
    if http.method.is_safe() {
        let message = format!("a `{}` request has no body", http.method.word());
        sink.error(Rule::InvalidFieldValue, &entry.key_span, message)
            .suggest("remove `body`, or write `method: POST`");
    }
}

/// What is wrong with an address, to follow its name.
fn address_fault(text: &str) -> Option<&'static str> {
    let schemes = ["http://", "https://"];
    let begins = |scheme: &&str| {
        text.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    };
    let Some(scheme) = schemes.into_iter().find(begins) else {
        return Some("must begin with `http://` or `https://`");
    };
    let rest = &text[scheme.len()..];
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
        Some("has a character that no address can have")
    } else if authority.contains('@') {
        Some("must not hold a user name or password; give them by a header")
    } else if authority.is_empty() || authority.starts_with(':') {
        Some("names no host")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_of_the_web_and_names_nobody() {
        for sound in ["https://example.com", "HTTP://[::1]:80/a?b@c", "http://a.b:8080/x@y#z"] {
            assert_eq!(address_fault(sound), None, "{sound}");
        }
        for wrong in [
            "",
            "example.com",
            "ftp://a",
            "http:/a",
            "http://",
            "https:///a",
            "http://:80",
            "https://me:pass@a/",
            "https://me@a",
            "http://a b",
            "http://a\n",
            "http://a\\@b",
            "é",
            "httpé://",
        ] {
            assert!(address_fault(wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn the_headers_of_the_request_itself_are_known_in_any_case() {
        assert!(is_own_header("Host") && is_own_header("CONTENT-length"));
        assert!(!is_own_header("Accept") && !is_own_header("Hosts"));
    }
}
