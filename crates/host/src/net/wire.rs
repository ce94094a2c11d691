//! One connection as the HTTP library sees it. It gets a connection that was
//! made and checked before, can make none by itself, and each of its reads
//! and writes ends at the deadline or the stop. A witness above the
//! encryption notes whether anything of the request has left.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};

use super::patience::{Patience, Waited};

/// What became of one exchange, told past the library's own errors.
#[derive(Debug, Default)]
pub(super) struct Trace {
    sent: AtomicBool,
    stopped: AtomicBool,
    late: AtomicBool,
    torn: AtomicBool,
}

impl Trace {
    /// Whether anything of the request was handed to the connection.
    pub(super) fn sent(&self) -> bool {
        self.sent.load(Ordering::Relaxed)
    }

    pub(super) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }

    /// Whether the connection broke off instead of being closed. An answer
    /// without a length is only then known to be cut.
    pub(super) fn torn(&self) -> bool {
        self.torn.load(Ordering::Relaxed)
    }
}

/// In place of a resolver, for none is needed any more.
#[derive(Debug)]
pub(super) struct NoLookup;

impl Resolver for NoLookup {
    fn resolve(
        &self,
        _: &Uri,
        _: &Config,
        _: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        // The connection is there already; its address is of no use here.
        Ok(self.empty())
    }
}

/// Hands out the connection that was made, once.
#[derive(Debug)]
pub(super) struct Line {
    pub stream: Mutex<Option<TcpStream>>,
    pub patience: Arc<Patience>,
    pub trace: Arc<Trace>,
}

impl Connector for Line {
    type Out = Wire;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _: Option<()>,
    ) -> Result<Option<Wire>, ureq::Error> {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(stream) = stream else { return Err(ureq::Error::ConnectionFailed) };
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        let (patience, trace) = (Arc::clone(&self.patience), Arc::clone(&self.trace));
        Ok(Some(Wire { stream, buffers, patience, trace }))
    }
}

#[derive(Debug)]
pub(super) struct Wire {
    stream: TcpStream,
    buffers: LazyBuffers,
    patience: Arc<Patience>,
    trace: Arc<Trace>,
}

impl Wire {
    fn wait(&self, waited: io::Result<Waited>) -> Result<(), ureq::Error> {
        let (noted, why) = match waited? {
            Waited::Ready => return Ok(()),
            Waited::Stopped => (&self.trace.stopped, "stopped"),
            Waited::Late => (&self.trace.late, "the deadline has passed"),
        };
        noted.store(true, Ordering::Relaxed);
        // A kind that neither the library nor the encryption takes for an end
        // or tries again.
        Err(ureq::Error::Io(io::Error::other(why)))
    }
}

impl Transport for Wire {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), ureq::Error> {
        let mut written = 0;
        while written < amount {
            self.wait(self.patience.until_writable(self.stream.as_fd()))?;
            match self.stream.write(&self.buffers.output()[written..amount]) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                Ok(count) => written += count,
                Err(error) if is_try_again(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, ureq::Error> {
        loop {
            self.wait(self.patience.until_readable(self.stream.as_fd()))?;
            match self.stream.read(self.buffers.input_append_buf()) {
                Ok(count) => {
                    self.buffers.input_appended(count);
                    return Ok(count > 0);
                }
                Err(error) if is_try_again(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// A connection serves one request.
    fn is_open(&mut self) -> bool {
        false
    }
}

fn is_try_again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Stands between the library and the connection, above the encryption.
#[derive(Debug)]
pub(super) struct Witness(pub Arc<Trace>);

#[derive(Debug)]
pub(super) struct Witnessed<T> {
    inner: T,
    trace: Arc<Trace>,
}

impl<In: Transport> Connector<In> for Witness {
    type Out = Witnessed<In>;

    fn connect(
        &self,
        _: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        Ok(chained.map(|inner| Witnessed { inner, trace: Arc::clone(&self.0) }))
    }
}

impl<T: Transport> Transport for Witnessed<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        // Before the write: of one that fails nobody knows how much arrived.
        self.trace.sent.store(true, Ordering::Relaxed);
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        let awaited = self.inner.await_input(timeout);
        if awaited.is_err() {
            self.trace.torn.store(true, Ordering::Relaxed);
        }
        awaited
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}
