//! One request over one connection, and its answer. The HTTP library parses;
//! everything it would decide (proxies, redirects, unpacking, pooling, what
//! status is an error) is switched off.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use ureq::http::{HeaderMap, HeaderName, Response, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::transport::{Connector, RustlsConnector};
use ureq::{Agent, Body};

use super::body::{self, BodyError};
use super::error::{Fault, NetError};
use super::limits;
use super::patience::Patience;
use super::request::Method;
use super::url::{Scheme, Url};
use super::wire::{Line, NoLookup, Trace, Witness};

/// What is sent over the connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    pub method: Method,
    pub url: &'a Url,
    pub headers: &'a [(String, String)],
    pub body: Option<&'a str>,
}

/// An answer whose headers have come.
#[derive(Debug)]
pub(super) struct Answer {
    url: Url,
    response: Response<Body>,
    trace: Arc<Trace>,
}

type Pairs = BTreeMap<String, String>;

/// Sends the message and waits for the headers of the answer.
pub(super) fn send(
    message: Message<'_>,
    stream: TcpStream,
    patience: &Arc<Patience>,
    roots: &RootCerts,
) -> Result<Answer, NetError> {
    let trace = Arc::new(Trace::default());
    let agent = agent(stream, patience, &trace, roots);
    match run(&agent, message) {
        Ok(response) => Ok(Answer { url: message.url.clone(), response, trace }),
        Err(error) => {
            Err(NetError { fault: fault(error, message.url, &trace), sent: trace.sent() })
        }
    }
}

impl Answer {
    pub(super) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Where it sends the reader, if it does. Two places are none.
    pub(super) fn location(&self) -> Result<Option<String>, NetError> {
        let mut found = self.response.headers().get_all(header::LOCATION).iter();
        let (first, second) = (found.next(), found.next());
        let location = first.map(|first| String::from_utf8(first.as_bytes().to_vec()));
        match (location, second) {
            (None, _) => Ok(None),
            (Some(Ok(location)), None) => Ok(Some(location)),
            (Some(Ok(_)), Some(_)) => Err(self.invalid("it names two locations")),
            (Some(Err(_)), _) => Err(self.invalid("its location is not UTF-8")),
        }
    }

    /// Its headers and the whole of its body.
    pub(super) fn read(mut self) -> Result<(Pairs, Vec<u8>), NetError> {
        let whole = self.whole();
        let (bytes, unpacked) = whole.map_err(|error| self.no_body(error))?;
        Ok((pairs(self.response.headers(), unpacked), bytes))
    }

    fn whole(&mut self) -> Result<(Vec<u8>, bool), BodyError> {
        let headers = self.response.headers();
        let coding = text_of(headers, header::CONTENT_ENCODING);
        let packed = body::is_packed(coding.iter().map(String::as_str));
        let transfer = text_of(headers, header::TRANSFER_ENCODING);
        let inner = transfer.iter().flat_map(|value| value.split(','));
        let inner = inner.filter(|coding| !coding.trim().eq_ignore_ascii_case("chunked"));
        let twice = body::is_packed(inner);
        let has_length = !transfer.is_empty() || headers.contains_key(header::CONTENT_LENGTH);
        let bytes = body::read(self.response.body_mut().as_reader())?;
        if self.trace.torn() && !has_length {
            return Err(BodyError::Lost(std::io::ErrorKind::UnexpectedEof.into()));
        }
        if bytes.is_empty() {
            return Ok((bytes, false));
        }
        match (packed?, twice?) {
            (false, false) => Ok((bytes, false)),
            (true, false) => Ok((body::unpack(&bytes)?, true)),
            (_, true) => Err(BodyError::Encoding(transfer.join(", "))),
        }
    }

    fn no_body(&self, error: BodyError) -> NetError {
        let host = self.url.host.to_string();
        let fault = match error {
            BodyError::TooLarge => {
                Fault::TooLarge { host, what: "contents", limit: limits::RECEIVED_BYTES }
            }
            BodyError::Bomb => Fault::Bomb { host },
            BodyError::Encoding(encoding) => Fault::Encoding { host, encoding },
            BodyError::Damaged(source) => Fault::Answer { host, source: source.into() },
            BodyError::Lost(source) => match source.downcast::<ureq::Error>() {
                Ok(error) => fault(error, &self.url, &self.trace),
                Err(source) => fault(ureq::Error::Io(source), &self.url, &self.trace),
            },
        };
        NetError { fault, sent: true }
    }

    fn invalid(&self, why: &str) -> NetError {
        let host = self.url.host.to_string();
        NetError { fault: Fault::Answer { host, source: why.into() }, sent: true }
    }
}

fn agent(
    stream: TcpStream,
    patience: &Arc<Patience>,
    trace: &Arc<Trace>,
    roots: &RootCerts,
) -> Agent {
    let tls = TlsConfig::builder().root_certs(roots.clone()).build();
    let config = Agent::config_builder()
        .proxy(None)
        .tls_config(tls)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(0)
        .max_response_header_size(limits::ANSWER_HEADER_BYTES)
        .user_agent(concat!("wardian/", env!("CARGO_PKG_VERSION")))
        .accept_encoding("gzip")
        .build();
    let (patience, trace) = (Arc::clone(patience), Arc::clone(trace));
    let witness = Witness(Arc::clone(&trace));
    let line = Line { stream: Mutex::new(Some(stream)), patience, trace };
    Agent::with_parts(config, line.chain(RustlsConnector::default()).chain(witness), NoLookup)
}

fn run(agent: &Agent, message: Message<'_>) -> Result<Response<Body>, ureq::Error> {
    let mut request = ureq::http::Request::builder()
        .method(message.method.name())
        .uri(message.url.to_string())
        .header(header::CONNECTION, "close");
    for (name, value) in message.headers {
        request = request.header(name, value);
    }
    match message.body {
        Some(body) => agent.run(request.body(body)?),
        None if message.method == Method::Get || message.method == Method::Head => {
            agent.run(request.body(())?)
        }
        None => agent.run(request.body("")?),
    }
}

fn fault(error: ureq::Error, url: &Url, trace: &Trace) -> Fault {
    let host = url.host.to_string();
    if trace.stopped() {
        return Fault::Stopped;
    }
    if trace.late() {
        return Fault::Late { host };
    }
    if let ureq::Error::LargeResponseHeader(..) = error {
        return Fault::TooLarge { host, what: "headers", limit: limits::ANSWER_HEADER_BYTES };
    }
    match (trace.sent(), url.scheme, error) {
        (false, Scheme::Https, error) => Fault::Tls { host, source: error.into_io() },
        (false, Scheme::Http, error) => Fault::Connect { host, source: error.into_io() },
        (true, _, ureq::Error::Protocol(error)) => Fault::Answer { host, source: error.into() },
        (true, _, error) => Fault::Lost { host, source: error.into_io() },
    }
}

fn text_of(headers: &HeaderMap, name: HeaderName) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    headers.get_all(name).iter().map(|value| text(value.as_bytes())).collect()
}

/// Headers by their names in small letters. Cookies are the server's secret
/// with its visitor and no data; and what tells of a packing that is undone
/// would be wrong.
fn pairs(headers: &HeaderMap, unpacked: bool) -> Pairs {
    let undone = [header::CONTENT_ENCODING, header::CONTENT_LENGTH];
    let kept = |name: &&HeaderName| {
        **name != header::SET_COOKIE
            && name.as_str() != "set-cookie2"
            && !(unpacked && undone.contains(name))
    };
    let names = headers.keys().filter(kept);
    names.map(|name| (name.to_string(), text_of(headers, name.clone()).join(", "))).collect()
}
