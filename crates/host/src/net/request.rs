//! A request as its author wrote it, and the check that makes it one that can
//! be sent: nothing in it changes where the message ends or whom it is for.
//! Pure.

use std::time::Duration;

use super::error::Fault;
use super::limits;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

/// What is asked, of whom, and how long it may take.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: Method,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<String>,
    /// For everything: lookup, connection, redirects and the whole answer.
    pub timeout: Duration,
    /// Hosts (`host`, `host:port`) and networks (`10.0.0.0/8`) that may be
    /// reached although they are not public or the port is unusual.
    pub allow: Vec<String>,
    /// The author's consent that the host of `url` may be anywhere but in a
    /// place that is always refused. No redirect to another host inherits it.
    pub allow_private: bool,
}

impl Method {
    const ALL: [Self; 6] =
        [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// A method by its name in capitals.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether it only looks. What only looks may follow a redirect and may be
    /// asked again.
    pub fn is_safe(self) -> bool {
        match self {
            Self::Get | Self::Head => true,
            Self::Post | Self::Put | Self::Patch | Self::Delete => false,
        }
    }
}

/// Headers by which a message says where it ends, which way it goes or how it
/// is packed. They are the client's own.
const OURS: [&str; 13] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that go along to another origin. Of all others nobody can tell
/// whether they hold what only the first one may see.
const FOR_EVERYBODY: [&str; 4] = ["accept", "accept-language", "cache-control", "user-agent"];

/// Refuses what cannot be sent as it stands.
pub(super) fn check(request: &Request) -> Result<(), Fault> {
    let bytes = |(name, value): &(String, String)| name.len() + value.len();
    let total = request.headers.iter().map(bytes).sum::<usize>();
    if request.headers.len() > limits::HEADERS || total > limits::HEADER_BYTES {
        return Err(Fault::TooManyHeaders);
    }
    for (name, value) in &request.headers {
        if let Some(why) = objection(name, value) {
            return Err(Fault::Header { name: name.clone(), why });
        }
    }
    match &request.body {
        Some(_) if request.method.is_safe() => Err(Fault::BodyNotAllowed(request.method.name())),
        Some(body) if body.len() > limits::SENT_BYTES => Err(Fault::BodyTooLarge),
        Some(_) | None => Ok(()),
    }
}

/// Those headers that another origin may see as well.
pub(super) fn for_everybody(headers: &[(String, String)]) -> Vec<(String, String)> {
    let open = |name: &str| FOR_EVERYBODY.iter().any(|open| name.eq_ignore_ascii_case(open));
    headers.iter().filter(|(name, _)| open(name)).cloned().collect()
}

fn objection(name: &str, value: &str) -> Option<&'static str> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Some("its name has characters that no header's name may have");
    }
    if OURS.iter().any(|ours| name.eq_ignore_ascii_case(ours)) {
        return Some("the client sets it by itself");
    }
    let is_text = |c: char| c == '\t' || !c.is_control();
    (!value.chars().all(is_text)).then_some("its value has a line break or a control character")
}

#[cfg(test)]
mod tests;
