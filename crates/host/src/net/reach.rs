//! What one request may reach: public addresses on the usual ports, and
//! beyond them what its author has named. Pure.

use core::net::IpAddr;

use super::address::{Verdict, contains, judge};
use super::error::Fault;
use super::limits;
use super::url::{Host, Url};

/// The author's word on hosts, networks and ports.
#[derive(Debug, Clone, Default)]
pub(super) struct Reach {
    entries: Vec<Entry>,
    /// The host whose addresses may be inside, on any port.
    consented: Option<Host>,
}

#[derive(Debug, Clone)]
enum Entry {
    Host { host: Host, port: Option<u16> },
    Network { base: IpAddr, length: u32 },
}

impl Reach {
    /// `consented` is the host that the author wrote down and wants to reach
    /// wherever it is; a redirect to another host does not inherit that.
    pub(super) fn new(allow: &[String], consented: Option<&Host>) -> Result<Self, Fault> {
        if allow.len() > limits::ALLOWED {
            return Err(Fault::TooManyAllowed);
        }
        let entries = allow
            .iter()
            .map(|entry| Entry::parse(entry).ok_or_else(|| Fault::Allow { entry: entry.clone() }));
        Ok(Self { entries: entries.collect::<Result<_, _>>()?, consented: consented.cloned() })
    }

    /// Whether a connection to this address may be made on the way to `url`.
    pub(super) fn permit(&self, url: &Url, address: IpAddr) -> Result<(), Fault> {
        let refused = |kind, openable| {
            let host = url.host.to_string();
            Err(Fault::Refused { host, address, kind, openable })
        };
        match judge(address) {
            Verdict::Never(kind) => refused(kind, false),
            Verdict::Inside(_) if self.consented.as_ref() == Some(&url.host) => Ok(()),
            Verdict::Inside(kind) if !self.names(url, address) => refused(kind, true),
            Verdict::Inside(_) | Verdict::Public => self.permit_port(url),
        }
    }

    fn names(&self, url: &Url, address: IpAddr) -> bool {
        self.entries.iter().any(|entry| match entry {
            Entry::Host { host, port } => {
                *host == url.host && port.is_none_or(|port| port == url.port)
            }
            Entry::Network { base, length } => contains(*base, *length, address),
        })
    }

    fn permit_port(&self, url: &Url) -> Result<(), Fault> {
        let named = self.entries.iter().any(|entry| {
            matches!(entry, Entry::Host { host, port }
                if *host == url.host && *port == Some(url.port))
        });
        if named || limits::PORTS.contains(&url.port) {
            return Ok(());
        }
        Err(Fault::Port { host: url.host.to_string(), port: url.port })
    }
}

impl Entry {
    /// `host`, `host:port`, `10.0.0.0/8`; an address of version 6 stands in
    /// brackets unless it is a network.
    fn parse(text: &str) -> Option<Self> {
        if let Some((base, length)) = text.split_once('/') {
            let base: IpAddr = base.parse().ok()?;
            let length: u32 = length.parse().ok()?;
            let width = if base.is_ipv4() { 32 } else { 128 };
            return (length <= width).then_some(Self::Network { base, length });
        }
        let after = text.rfind(']').map_or(0, |end| end + 1);
        let (host, port) = match text[after..].find(':') {
            None => (text, None),
            Some(colon) => {
                let port: u16 = text[after + colon + 1..].parse().ok()?;
                (&text[..after + colon], Some(port))
            }
        };
        Some(Self::Host { host: Host::parse(host).ok()?, port })
    }
}

#[cfg(test)]
mod tests;
