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
    _kept_open: [OwnedFd; 2],
    sink: &'a mut Sink<'a>,
    /// Made when something is said.
    buffer: Vec<u8>,
}

struct Pipe {
    stream: Stream,
    fd: OwnedFd,
    /// A read of it does not wait. Most that are silent are never read.
    nonblocking: bool,
    /// There was something in it at the last look.
    had_some: bool,
    capture: Capture,
}

impl<'a> Streams<'a> {
    /// Of each stream at most `kept` bytes are kept.
    pub(crate) fn new(pipes: Pipes, kept: usize, sink: &'a mut Sink<'a>) -> Self {
        let Pipes { stdout, stderr, kept_open } = pipes;
        let pipes =
            [Pipe::new(Stream::Stdout, stdout, kept), Pipe::new(Stream::Stderr, stderr, kept)];
        Self { pipes, _kept_open: kept_open, sink, buffer: Vec::new() }
    }

    /// Waits until there is output or one of `others` is ready, takes the
    /// output, and says which of `others` are.
    pub(crate) fn wait(&mut self, others: &[BorrowedFd<'_>]) -> io::Result<Vec<bool>> {
        let pipes = self.pipes.iter().map(|pipe| pipe.fd.as_fd());
        let all: Vec<_> = others.iter().copied().chain(pipes).collect();
        let mut ready = poll::wait(&all)?;
        let readable = ready.split_off(others.len());
        for (pipe, readable) in self.pipes.iter_mut().zip(readable) {
            pipe.had_some = readable;
            if readable {
                self.buffer.resize(READ_BYTES, 0);
                pipe.read(&mut self.buffer, self.sink)?;
            }
        }
        Ok(ready)
    }

    /// Takes the rest, when the last look saw the end of the child. The kernel
    /// looks at descriptors in their order, so that a pipe that was empty then
    /// holds nothing of the child.
    pub(crate) fn drain_seen(&mut self) -> io::Result<()> {
        match self.pipes.iter().any(|pipe| pipe.had_some) {
            true => self.drain(),
            false => Ok(()),
        }
    }

    /// Takes what is in the pipes now and no more: whatever the child itself
    /// wrote is there, and others who still write could go on for ever.
    pub(crate) fn drain(&mut self) -> io::Result<()> {
        for pipe in &mut self.pipes {
            let mut left = usize::try_from(ioctl_fionread(&pipe.fd)?).unwrap_or(usize::MAX);
            while left > 0 {
                self.buffer.resize(READ_BYTES, 0);
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
    fn new(stream: Stream, fd: OwnedFd, kept: usize) -> Self {
        let capture = Capture::with_limit(kept);
        Self { stream, fd, nonblocking: false, had_some: false, capture }
    }

    /// One read; the bytes that came, 0 when there are none for now.
    fn read(&mut self, buffer: &mut [u8], sink: &mut Sink<'_>) -> io::Result<usize> {
        if !self.nonblocking {
            ioctl_fionbio(&self.fd, true)?;
            self.nonblocking = true;
        }
        match rustix::io::read(&self.fd, &mut *buffer) {
            Ok(taken) => {
                let bytes = &buffer[..taken];
                self.capture.push(bytes);
                // The pipe is read to its end, whoever still hears.
                let _heard = sink(self.stream, bytes);
                Ok(taken)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use durable::Span;
    use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

    use super::*;
    use crate::poll::Deadline;

    /// Our ends of both streams, and the other ends.
    fn pipes() -> (Pipes, OwnedFd, OwnedFd) {
        let (stdout, to_stdout) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let (stderr, to_stderr) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let kept_open = [to_stdout.try_clone().unwrap(), to_stderr.try_clone().unwrap()];
        (Pipes { stdout, stderr, kept_open }, to_stdout, to_stderr)
    }

    #[test]
    fn the_end_of_a_stream_wakes_nobody() {
        let (pipes, to_stdout, to_stderr) = pipes();
        drop((to_stdout, to_stderr));
        let mut sink = |_: Stream, _: &[u8]| ControlFlow::Continue(());
        let mut streams = Streams::new(pipes, 0, &mut sink);
        let deadline = Deadline::after(Span::from_millis(1)).unwrap();
        assert_eq!(streams.wait(&[deadline.as_fd()]).unwrap(), [true]);
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
        Streams::new(pipes, 0, &mut sink).drain().unwrap();
        assert_eq!(heard, [b"first"]);
    }

    #[test]
    fn what_a_child_left_at_its_end_is_taken_and_a_silent_one_is_not_read() {
        for said in [0, 3 * READ_BYTES] {
            let (pipes, to_stdout, _to_stderr) = pipes();
            fcntl_setpipe_size(&to_stdout, 4 * READ_BYTES).unwrap();
            let write = |bytes: usize| rustix::io::write(&to_stdout, &vec![b'x'; bytes]).unwrap();
            assert_eq!(write(said), said);
            let mut sink = |_: Stream, _: &[u8]| ControlFlow::Continue(());
            let mut streams = Streams::new(pipes, 4 * READ_BYTES, &mut sink);
            let ended = Deadline::after(Span::ZERO).unwrap();
            assert_eq!(streams.wait(&[ended.as_fd()]).unwrap(), [true]);
            if said == 0 {
                write(1);
            }
            streams.drain_seen().unwrap();
            assert_eq!(streams.finish().0.text.len(), said);
        }
    }

    #[test]
    fn draining_takes_all_that_is_there_however_large_the_pipe() {
        let (pipes, to_stdout, to_stderr) = pipes();
        fcntl_setpipe_size(&to_stdout, 1 << 18).unwrap();
        let much = vec![b'x'; 200_000];
        assert_eq!(rustix::io::write(&to_stdout, &much).unwrap(), much.len());
        rustix::io::write(&to_stderr, b"little").unwrap();
        let mut sink = |_: Stream, _: &[u8]| ControlFlow::Continue(());
        let mut streams = Streams::new(pipes, 1 << 20, &mut sink);
        streams.drain().unwrap();
        let (stdout, stderr) = streams.finish();
        assert_eq!((stdout.text.len(), &stderr.text[..]), (much.len(), "little"));
    }
}
