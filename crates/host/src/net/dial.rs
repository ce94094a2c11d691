//! From the host of an address to a connection. The name is looked up once,
//! every address it has is checked, and one of those is connected to: nothing
//! after this asks for an address again. Lookup and connect cannot be broken
//! off, so they have a thread of their own that is left behind when nobody
//! waits any longer; it never sends a byte.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use super::address::canonical;
use super::error::Fault;
use super::limits;
use super::patience::{Patience, Waited};
use super::reach::Reach;
use super::url::{Host, Url};

/// Gives all addresses of a name.
#[derive(Clone)]
pub(super) struct Lookup(Arc<Addresses>);

type Addresses = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// How long one address may take, and at least gets, when there are others
/// to try.
const ONE_ADDRESS_AT_MOST: Duration = Duration::from_secs(10);
const ONE_ADDRESS_AT_LEAST: Duration = Duration::from_millis(250);

impl Lookup {
    pub(super) fn new(
        lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(lookup))
    }

    /// The system's own resolver, with its files, caches and servers.
    pub(super) fn system() -> Self {
        Self::new(|name| Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect()))
    }
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lookup")
    }
}

/// Connects to the host of `url`, if `reach` permits every address it has.
pub(super) fn dial(
    url: &Url,
    reach: &Reach,
    lookup: &Lookup,
    timeout: Duration,
    patience: &Patience,
) -> Result<TcpStream, Fault> {
    let failed = |source| Fault::Connect { host: url.host.to_string(), source };
    // The end of the pipe that the thread holds closes when it is done.
    let (done, theirs) = io::pipe().map_err(failed)?;
    let (sender, result) = sync_channel(1);
    let (to, reach, lookup) = (url.clone(), reach.clone(), lookup.clone());
    let work = move || {
        let connected = connect_checked(&to, &reach, &lookup, timeout);
        // Nobody receives what comes too late, and the connection closes.
        drop(sender.send(connected));
        drop(theirs);
    };
    thread::Builder::new().name("dial".to_owned()).spawn(work).map_err(failed)?;
    match patience.until_readable(done.as_fd()).map_err(failed)? {
        Waited::Ready => result.recv().unwrap_or_else(|_| {
            Err(failed(io::Error::other("the thread that connects has failed")))
        }),
        Waited::Stopped => Err(Fault::Stopped),
        Waited::Late => Err(Fault::Late { host: url.host.to_string() }),
    }
}

fn connect_checked(
    url: &Url,
    reach: &Reach,
    lookup: &Lookup,
    timeout: Duration,
) -> Result<TcpStream, Fault> {
    let addresses = addresses(url, lookup)?;
    addresses.iter().try_for_each(|address| reach.permit(url, *address))?;
    connect_first(&addresses, url, timeout)
}

fn addresses(url: &Url, lookup: &Lookup) -> Result<Vec<IpAddr>, Fault> {
    let name = match &url.host {
        Host::Ip(address) => return Ok(vec![canonical(*address)]),
        Host::Name(name) => name,
    };
    let no_address = |why| Fault::NoAddress { host: name.clone(), why };
    let found = (lookup.0)(name);
    let found = found.map_err(|source| Fault::Lookup { host: name.clone(), source })?;
    if found.len() > limits::ADDRESSES {
        return Err(no_address("it has too many of them"));
    }
    let mut addresses: Vec<IpAddr> = Vec::new();
    for address in found.into_iter().map(canonical) {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() { Err(no_address("its name is empty")) } else { Ok(addresses) }
}

fn connect_first(addresses: &[IpAddr], url: &Url, timeout: Duration) -> Result<TcpStream, Fault> {
    let share = timeout / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    let share = share.clamp(ONE_ADDRESS_AT_LEAST, ONE_ADDRESS_AT_MOST);
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect_timeout(&SocketAddr::new(*address, url.port), share) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(Fault::Connect { host: url.host.to_string(), source: last })
}
