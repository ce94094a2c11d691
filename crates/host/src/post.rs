//! A queue whose receiver waits at a pipe: for each thing in it there is a
//! byte in the pipe. So it can be waited for together with other files. And
//! who writes into a pipe is taken by the kernel for one that sleeps soon, so
//! that the receiver goes on on the same processor. To wake another one takes
//! longer than most that is handed over here.

use std::collections::VecDeque;
use std::io::Result as IoResult;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::{read, retry_on_intr, write};
use rustix::pipe::{PipeFlags, pipe_with};

/// Puts in. Clones share the queue.
#[derive(Debug)]
pub(crate) struct Sender<T> {
    queue: Queue<T>,
    pipe: Arc<OwnedFd>,
}

/// Takes out. Clones share the queue; each thing comes to one of them.
#[derive(Debug)]
pub(crate) struct Receiver<T> {
    queue: Queue<T>,
    pipe: Arc<OwnedFd>,
}

#[derive(Debug)]
struct Queue<T>(Arc<Mutex<VecDeque<T>>>);

/// An empty queue. Fails only when the process has no descriptors left.
pub(crate) fn post<T>() -> IoResult<(Sender<T>, Receiver<T>)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    let queue = Queue(Arc::default());
    let sender = Sender { queue: queue.clone(), pipe: Arc::new(writer) };
    Ok((sender, Receiver { queue, pipe: Arc::new(reader) }))
}

impl<T> Sender<T> {
    /// Whether there is still somebody who might take it. It waits while more
    /// is on the way than a pipe holds bytes.
    pub(crate) fn send(&self, thing: T) -> bool {
        self.queue.lock().push_back(thing);
        retry_on_intr(|| write(&*self.pipe, &[0])).is_ok()
    }
}

impl<T> Receiver<T> {
    /// The next thing, waited for; `None` once no more can come.
    pub(crate) fn take(&self) -> Option<T> {
        match retry_on_intr(|| read(&*self.pipe, &mut [0; 1])) {
            Ok(1..) => self.queue.lock().pop_front(),
            Ok(0) | Err(_) => None,
        }
    }
}

impl<T> AsFd for Receiver<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

impl<T> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone(), pipe: Arc::clone(&self.pipe) }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone(), pipe: Arc::clone(&self.pipe) }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn things_come_in_their_order_and_then_the_end() {
        let (sender, receiver) = post().unwrap();
        let other = sender.clone();
        assert!(sender.send(1) && other.send(2));
        drop(other);
        drop(sender);
        assert_eq!([receiver.take(), receiver.take(), receiver.take()], [Some(1), Some(2), None]);
    }

    #[test]
    fn each_thing_comes_to_one_of_many() {
        let (sender, receiver) = post().unwrap();
        let takers: Vec<_> = (0..4)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || std::iter::from_fn(|| receiver.take()).collect::<Vec<u32>>())
            })
            .collect();
        assert!((0..1000).all(|thing| sender.send(thing)));
        drop(sender);
        let mut taken: Vec<u32> = takers.into_iter().flat_map(|t| t.join().unwrap()).collect();
        taken.sort_unstable();
        assert_eq!(taken, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn a_sender_learns_that_nobody_takes() {
        let (sender, receiver) = post().unwrap();
        drop(receiver);
        assert!(!sender.send(1));
    }
}
