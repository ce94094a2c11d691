//! The outgoing HTTP client, for whatever a run asks of the web. The law it
//! keeps: no byte goes to an address that was not checked. A name is looked
//! up once, all its addresses must be permitted, and the connection is made
//! to one of those; a redirect is a new address and starts over. Proxies of
//! the environment are ignored. Certificates are checked against roots that
//! are compiled in; the system's store is not read.

mod address;
mod body;
mod dial;
mod error;
mod exchange;
mod limits;
mod patience;
mod reach;
mod request;
mod url;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;

use providers::Stop;
use ureq::tls::RootCerts;

pub use error::{Fault, NetError};
pub use request::{Method, Request};
pub use url::UrlError;

use dial::{Lookup, dial};
use exchange::{Answer, Message};
use patience::Patience;
use reach::Reach;
use url::{Scheme, Url};

/// A complete answer, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// By names in small letters; several values are joined by a comma.
    pub headers: BTreeMap<String, String>,
    /// Unpacked.
    pub body: Vec<u8>,
    /// Who answered: the address after all redirects.
    pub url: String,
    pub redirects: usize,
}

/// Sends the request and waits for the whole answer.
pub fn fetch(request: &Request, stop: &Stop) -> Result<Response, NetError> {
    Client { lookup: Lookup::system(), roots: RootCerts::WebPki }.fetch(request, stop)
}

/// The host of an address, for messages: paths may hold what is secret.
pub(crate) fn shown_host(url: &str) -> String {
    Url::parse(url).map_or_else(|_| "the address".to_owned(), |url| url.host.to_string())
}

/// What a request needs of the world besides connections.
#[derive(Debug)]
struct Client {
    lookup: Lookup,
    roots: RootCerts,
}

impl Client {
    fn fetch(&self, request: &Request, stop: &Stop) -> Result<Response, NetError> {
        request::check(request).map_err(NetError::before_sending)?;
        let url = Url::parse(&request.url).map_err(Fault::Url);
        let mut url = url.map_err(NetError::before_sending)?;
        let consented = request.allow_private.then_some(&url.host);
        let reach = Reach::new(&request.allow, consented).map_err(NetError::before_sending)?;
        let patience = Patience::new(stop, request.timeout).map_err(|source| {
            NetError::before_sending(Fault::Connect { host: url.host.to_string(), source })
        })?;
        let patience = Arc::new(patience);
        let mut headers = request.headers.clone();
        let mut redirects = 0;
        loop {
            let message = Message {
                method: request.method,
                url: &url,
                headers: &headers,
                body: request.body.as_deref(),
            };
            let answer = self.exchange(message, request, &reach, &patience);
            let answer = answer.map_err(|error| after(redirects, error))?;
            let Some(next) = next(request.method, &url, &answer)? else {
                return finish(answer, &url, redirects);
            };
            if redirects == limits::REDIRECTS {
                let fault = Fault::TooManyRedirects { host: url.host.to_string() };
                return Err(NetError { fault, sent: true });
            }
            if !next.same_origin(&url) {
                headers = request::for_everybody(&headers);
            }
            redirects += 1;
            url = next;
        }
    }

    fn exchange(
        &self,
        message: Message<'_>,
        request: &Request,
        reach: &Reach,
        patience: &Arc<Patience>,
    ) -> Result<Answer, NetError> {
        let stream = dial(message.url, reach, &self.lookup, request.timeout, patience);
        let stream = stream.map_err(NetError::before_sending)?;
        exchange::send(message, stream, patience, &self.roots)
    }
}

/// Once one request was answered with a redirect, something has been sent.
fn after(redirects: usize, error: NetError) -> NetError {
    NetError { sent: error.sent || redirects > 0, ..error }
}

/// Where the answer sends those who only look. Others get it as it is, for a
/// repeated effect needs its author's word.
fn next(method: Method, url: &Url, answer: &Answer) -> Result<Option<Url>, NetError> {
    if !method.is_safe() || !matches!(answer.status(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = answer.location()? else { return Ok(None) };
    let refused = |fault| NetError { fault, sent: true };
    let host = url.host.to_string();
    let next = url.join(&location);
    let next = next.map_err(|source| refused(Fault::Location { host: host.clone(), source }))?;
    if url.scheme == Scheme::Https && next.scheme == Scheme::Http {
        return Err(refused(Fault::Downgrade { host }));
    }
    Ok(Some(next))
}

fn finish(answer: Answer, url: &Url, redirects: usize) -> Result<Response, NetError> {
    let status = answer.status();
    let (headers, body) = answer.read()?;
    Ok(Response { status, headers, body, url: url.to_string(), redirects })
}

#[cfg(test)]
mod tests;
