//! An http address, read strictly and kept in one form: what is checked is
//! what is sent. Anything that two readers could take differently (a name
//! before the host, a backslash, a half-numeric host) is refused or written
//! out. Pure.

mod host;

use std::fmt;

use super::limits;
pub(super) use host::Host;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Http,
    Https,
}

/// Where a request goes and what it asks for there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    pub scheme: Scheme,
    pub host: Host,
    pub port: u16,
    /// Path and query, as they are sent.
    pub target: String,
}

/// Why a text is no address to send a request to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("it is longer than {} bytes", limits::URL_BYTES)]
    TooLong,
    #[error("it contains a control character")]
    Control,
    #[error("it does not begin with http:// or https://")]
    Scheme,
    #[error("it carries a name or a password before the host; send them in a header")]
    UserInfo,
    #[error("the host {0:?} is not the name of a host")]
    Host(String),
    #[error("the host {0:?} has characters beyond ASCII; write its xn-- form")]
    HostBeyondAscii(String),
    #[error("the host {0:?} ends in a number but is no address of version 4")]
    HostNumber(String),
    #[error("{0:?} is not an address of version 6")]
    HostV6(String),
    #[error("the port {0:?} is not a number from 1 to 65535")]
    Port(String),
}

impl Scheme {
    fn of(text: &str) -> Option<Self> {
        [Self::Http, Self::Https]
            .into_iter()
            .find(|scheme| text.eq_ignore_ascii_case(scheme.name()))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Url {
    /// Reads a whole address. White space around it does not count, and a
    /// fragment is not sent.
    pub(super) fn parse(text: &str) -> Result<Self, UrlError> {
        let text = readable(text)?;
        let (scheme, rest) = text.split_once("://").ok_or(UrlError::Scheme)?;
        let scheme = Scheme::of(scheme).ok_or(UrlError::Scheme)?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        if authority.contains('@') {
            return Err(UrlError::UserInfo);
        }
        let (host, port) = split_port(authority);
        let port = port.map_or(Ok(scheme.port()), |port| read_port(port, scheme))?;
        Ok(Self { scheme, host: Host::parse(host)?, port, target: sendable(target) })
    }

    /// The address that a `Location` names, seen from this one.
    pub(super) fn join(&self, reference: &str) -> Result<Self, UrlError> {
        let reference = readable(reference)?;
        if has_scheme(reference) {
            return Self::parse(reference);
        }
        if reference.starts_with("//") {
            return Self::parse(&format!("{}:{reference}", self.scheme.name()));
        }
        let path = self.target.split('?').next().unwrap_or_default();
        let reference = reference.split('#').next().unwrap_or_default();
        let target = match reference.chars().next() {
            None => self.target.clone(),
            Some('/') => sendable(reference),
            Some('?') => sendable(&format!("{path}{reference}")),
            Some(_) => {
                let folder = path.rfind('/').map_or("/", |end| &path[..=end]);
                sendable(&format!("{folder}{reference}"))
            }
        };
        Ok(Self { target, ..self.clone() })
    }

    /// Whether both belong to one owner as far as anybody can tell.
    pub(super) fn same_origin(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.host == other.host && self.port == other.port
    }
}

/// Only scheme, host and port: paths and queries may hold what is secret.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a>(pub &'a Url);

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Url { scheme, host, port, target: _ } = self.0;
        write!(f, "{}://{host}", scheme.name())?;
        if *port == scheme.port() { Ok(()) } else { write!(f, ":{port}") }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Origin(self), self.target)
    }
}

fn readable(text: &str) -> Result<&str, UrlError> {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if text.len() > limits::URL_BYTES {
        return Err(UrlError::TooLong);
    }
    if text.chars().any(char::is_control) {
        return Err(UrlError::Control);
    }
    Ok(text)
}

fn has_scheme(reference: &str) -> bool {
    let end = reference.find([':', '/', '?', '#']);
    let Some((scheme, rest)) = end.map(|end| reference.split_at(end)) else { return false };
    let letters = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    rest.starts_with(':')
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(letters)
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    let after = authority.rfind(']').map_or(0, |end| end + 1);
    authority[after..].find(':').map_or((authority, None), |colon| {
        (&authority[..after + colon], Some(&authority[after + colon + 1..]))
    })
}

fn read_port(text: &str, scheme: Scheme) -> Result<u16, UrlError> {
    if text.is_empty() {
        return Ok(scheme.port());
    }
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let port = text.parse().ok().filter(|port| digits && *port != 0);
    port.ok_or_else(|| UrlError::Port(text.to_owned()))
}

/// A path and a query in the characters that a request line may have, without
/// a fragment and without steps up and down. What is escaped already stays.
fn sendable(target: &str) -> String {
    let target = target.split('#').next().unwrap_or_default();
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let mut text = escaped(&without_dots(path));
    text.push_str(&escaped(query));
    text
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// An absolute path in which no segment is `.` or `..`, spelled in whatever
/// way.
fn without_dots(path: &str) -> String {
    let plain = |segment: &str| segment.replace("%2e", ".").replace("%2E", ".");
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match plain(segment).as_str() {
            "." => {}
            ".." => drop(kept.pop()),
            _ => {
                kept.push(segment);
                continue;
            }
        }
        if last {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests;
