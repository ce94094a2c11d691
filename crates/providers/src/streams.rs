//! What a child writes, read as it comes, beside whatever else is waited
//! for. Reads never block, so neither a silent child nor one that leaves its
//! pipes to others can hold up the watch.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, ioctl_fionbio, ioctl_fionread};

use crate::capture::{Capture, Captured};
use crate::child::Pipes;
use crate::poll;
use crate::process::{Sink, Stream};

/// One read takes at most this: the capacity of a pipe, by default.
const READ_BYTES: usize = 64 << 10;

/// Both streams of one child.
pub(crate) struct Streams<'a> {
    pipes: [Pipe; 2],
    sink: &'a mut Sink<'a>,
    buffer: Vec<u8>,
}

struct Pipe {
    stream: Stream,
    /// Nothing once everybody has closed the other end.
    fd: Option<OwnedFd>,
    capture: Capture,
}

impl<'a> Streams<'a> {
    /// Of each stream at most `kept` bytes are kept.
    pub(crate) fn new(pipes: Pipes, kept: usize, sink: &'a mut Sink<'a>) -> io::Result<Self> {
        let pipes = [
            Pipe::new(Stream::Stdout, pipes.stdout, kept)?,
            Pipe::new(Stream::Stderr, pipes.stderr, kept)?,
        ];
        Ok(Self { pipes, sink, buffer: vec![0; READ_BYTES] })
    }

    /// Waits until there is output or one of `others` is ready, takes the
    /// output, and says which of `others` are.
    pub(crate) fn wait(&mut self, others: &[BorrowedFd<'_>]) -> io::Result<Vec<bool>> {
        let open = self.pipes.iter().filter_map(|pipe| pipe.fd.as_ref()).map(AsFd::as_fd);
        let all: Vec<_> = others.iter().copied().chain(open).collect();
        let mut ready = poll::wait(&all)?;
        let mut readable = ready.split_off(others.len()).into_iter();
        for pipe in &mut self.pipes {
            if pipe.fd.is_some() && readable.next() == Some(true) {
                pipe.read(&mut self.buffer, self.sink)?;
            }
        }
        Ok(ready)
    }

    /// Takes what is in the pipes now and no more: whatever the child itself
    /// wrote is there, and others who still write could go on for ever.
    pub(crate) fn drain(&mut self) -> io::Result<()> {
        for pipe in &mut self.pipes {
            let Some(fd) = &pipe.fd else { continue };
            let mut left = usize::try_from(ioctl_fionread(fd)?).unwrap_or(usize::MAX);
            while left > 0 {
                let most = left.min(READ_BYTES);
                match pipe.read(&mut self.buffer[..most], self.sink)? {
                    0 => break,
                    taken => left -= taken,
                }
            }
        }
        Ok(())
    }

    /// What was kept of stdout and of stderr.
    pub(crate) fn finish(self) -> (Captured, Captured) {
        let [stdout, stderr] = self.pipes.map(|pipe| pipe.capture.finish());
        (stdout, stderr)
    }
}

impl Pipe {
    fn new(stream: Stream, fd: OwnedFd, kept: usize) -> io::Result<Self> {
        ioctl_fionbio(&fd, true)?;
        Ok(Self { stream, fd: Some(fd), capture: Capture::with_limit(kept) })
    }

    /// One read; the bytes that came, 0 when there are none for now or ever.
    fn read(&mut self, buffer: &mut [u8], sink: &mut Sink<'_>) -> io::Result<usize> {
        let Some(fd) = &self.fd else { return Ok(0) };
        match rustix::io::read(fd, &mut *buffer) {
            Ok(0) => self.fd = None,
            Ok(taken) => {
                let bytes = &buffer[..taken];
                self.capture.push(bytes);
                // The pipe is read to its end, whoever still hears.
                let _heard = sink(self.stream, bytes);
                return Ok(taken);
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

    use super::*;

    /// Our ends of both streams, and the other ends.
    fn pipes() -> (Pipes, OwnedFd, OwnedFd) {
        let (stdout, to_stdout) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let (stderr, to_stderr) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        (Pipes { stdout, stderr }, to_stdout, to_stderr)
    }

    #[test]
    fn draining_takes_what_is_there_and_not_what_comes_meanwhile() {
        let (pipes, to_stdout, _to_stderr) = pipes();
        rustix::io::write(&to_stdout, b"first").unwrap();
        let mut heard = Vec::new();
        let mut sink = |_: Stream, bytes: &[u8]| {
            heard.push(bytes.to_vec());
            assert!(heard.len() < 100, "it goes on for ever");
            rustix::io::write(&to_stdout, b"more").unwrap();
            ControlFlow::Continue(())
        };
        Streams::new(pipes, 0, &mut sink).unwrap().drain().unwrap();
        assert_eq!(heard, [b"first"]);
    }

    #[test]
    fn draining_takes_all_that_is_there_however_large_the_pipe() {
        let (pipes, to_stdout, to_stderr) = pipes();
        fcntl_setpipe_size(&to_stdout, 1 << 18).unwrap();
        let much = vec![b'x'; 200_000];
        assert_eq!(rustix::io::write(&to_stdout, &much).unwrap(), much.len());
        rustix::io::write(&to_stderr, b"little").unwrap();
        let mut sink = |_: Stream, _: &[u8]| ControlFlow::Continue(());
        let mut streams = Streams::new(pipes, 1 << 20, &mut sink).unwrap();
        streams.drain().unwrap();
        let (stdout, stderr) = streams.finish();
        assert_eq!((stdout.text.len(), &stderr.text[..]), (much.len(), "little"));
    }
}
