//! Every way in which a request comes to no answer. What went wrong is one
//! thing, whether anything had been sent by then is the other: only the
//! second says if the world may have changed. Pure.

use core::net::IpAddr;
use std::error::Error;
use std::fmt;
use std::io;

use engine::{Class, Effect};

use super::limits;
use super::url::UrlError;

/// No answer, and whether the request had begun to leave this machine.
#[derive(Debug)]
pub struct NetError {
    pub fault: Fault,
    pub sent: bool,
}

/// What went wrong. Messages name hosts, never paths or queries, for those
/// may hold what is secret.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("the url cannot be used: {0}")]
    Url(#[source] UrlError),
    #[error("the header {name:?} cannot be sent: {why}")]
    Header { name: String, why: &'static str },
    #[error(
        "the request has more than {} headers or {} bytes of them",
        limits::HEADERS,
        limits::HEADER_BYTES
    )]
    TooManyHeaders,
    #[error("a {0} request carries no body; use POST, PUT or PATCH")]
    BodyNotAllowed(&'static str),
    #[error("the body is larger than {} bytes", limits::SENT_BYTES)]
    BodyTooLarge,
    #[error("{entry:?} is neither a host, nor host:port, nor a network such as 10.0.0.0/8")]
    Allow { entry: String },
    #[error("more than {} hosts and networks are allowed", limits::ALLOWED)]
    TooManyAllowed,
    #[error("{host} leads to {address}, which is refused: {kind}")]
    Refused {
        host: String,
        address: IpAddr,
        kind: &'static str,
        /// Whether a word of the author would open it.
        openable: bool,
    },
    #[error("port {port} of {host} is refused: it is not one of 80, 443, 8080 and 8443")]
    Port { host: String, port: u16 },
    #[error("{host} has no address: {why}")]
    NoAddress { host: String, why: &'static str },
    #[error("{host} cannot be looked up: {source}")]
    Lookup { host: String, source: io::Error },
    #[error("no connection to {host}: {source}")]
    Connect { host: String, source: io::Error },
    #[error("no secure connection to {host}: {source}")]
    Tls { host: String, source: io::Error },
    #[error("{host} did not answer in time")]
    Late { host: String },
    #[error("the request was stopped")]
    Stopped,
    #[error("the connection to {host} ended before the answer was complete: {source}")]
    Lost { host: String, source: io::Error },
    #[error("{host} gave no valid answer: {source}")]
    Answer { host: String, source: Box<dyn Error + Send + Sync> },
    #[error("the {what} of {host} are more than {limit} bytes")]
    TooLarge { host: String, what: &'static str, limit: usize },
    #[error("the answer of {host} unpacks to more than {} times its size", limits::RATIO)]
    Bomb { host: String },
    #[error("{host} answered in the encoding {encoding:?}; only gzip is read, and only once")]
    Encoding { host: String, encoding: String },
    #[error("more than {} redirects, the last from {host}", limits::REDIRECTS)]
    TooManyRedirects { host: String },
    #[error("{host} redirects from https to http, which is refused")]
    Downgrade { host: String },
    #[error("{host} redirects to where no request can go: {source}")]
    Location { host: String, source: UrlError },
}

impl Fault {
    /// The stable word for it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Url(_) => "bad_url",
            Self::Header { .. } | Self::TooManyHeaders => "bad_header",
            Self::BodyNotAllowed(_) | Self::BodyTooLarge => "bad_body",
            Self::Allow { .. } | Self::TooManyAllowed => "bad_allow",
            Self::Refused { .. } => "address_refused",
            Self::Port { .. } => "port_refused",
            Self::NoAddress { .. } | Self::Lookup { .. } => "dns",
            Self::Connect { .. } => "connect",
            Self::Tls { .. } => "tls",
            Self::Late { .. } => "timeout",
            Self::Stopped => "stopped",
            Self::Lost { .. } => "connection_lost",
            Self::Answer { .. } => "bad_response",
            Self::TooLarge { .. } | Self::Bomb { .. } => "too_large",
            Self::Encoding { .. } => "bad_encoding",
            Self::TooManyRedirects { .. } => "too_many_redirects",
            Self::Downgrade { .. } | Self::Location { .. } => "bad_redirect",
        }
    }

    /// What kind of failure it is to a run.
    pub fn class(&self) -> Class {
        match self {
            Self::Url(_)
            | Self::Header { .. }
            | Self::TooManyHeaders
            | Self::BodyNotAllowed(_)
            | Self::BodyTooLarge
            | Self::Allow { .. }
            | Self::TooManyAllowed
            | Self::Answer { .. }
            | Self::TooLarge { .. }
            | Self::Bomb { .. }
            | Self::Encoding { .. }
            | Self::TooManyRedirects { .. }
            | Self::Location { .. } => Class::Bug,
            Self::Refused { .. } | Self::Port { .. } | Self::Downgrade { .. } => Class::Policy,
            Self::Tls { .. } => Class::Preflight,
            Self::NoAddress { .. }
            | Self::Lookup { .. }
            | Self::Connect { .. }
            | Self::Late { .. }
            | Self::Stopped
            | Self::Lost { .. } => Class::Transient,
        }
    }
}

impl NetError {
    pub(super) fn before_sending(fault: Fault) -> Self {
        Self { fault, sent: false }
    }

    /// Whether the other side may have acted on the request.
    pub fn effect(&self) -> Effect {
        if self.sent { Effect::Uncertain } else { Effect::None }
    }
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)
    }
}

impl Error for NetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.fault.source()
    }
}
