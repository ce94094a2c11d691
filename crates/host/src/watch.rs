//! Tells a worker that its inbox changed. The kernel's notice is only a
//! hint: whoever is told reads the folder, so a notice too many is harmless,
//! and a slow look now and then covers one that got lost.

use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::mpsc::Sender;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify;

/// How long a lost notice can go unseen.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Sends `word()` whenever a file is moved into, or made in, one of the
/// folders, until nobody listens. Runs in the calling thread.
pub(crate) fn watch<T>(folders: &[&Path], sender: &Sender<T>, word: impl Fn() -> T) {
    let watched = || {
        let file = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
        for folder in folders {
            let flags = inotify::WatchFlags::MOVED_TO | inotify::WatchFlags::CREATE;
            inotify::add_watch(&file, *folder, flags)?;
        }
        Ok::<_, rustix::io::Errno>(file)
    };
    // Without a watch the slow look remains.
    let file = watched().ok();
    loop {
        match &file {
            Some(file) => {
                let mut waits = [PollFd::new(file, PollFlags::IN)];
                pause(&mut waits, Some(&LOOK_EVERY));
                let mut space = [MaybeUninit::uninit(); 4096];
                let mut reader = inotify::Reader::new(file, &mut space);
                while reader.next().is_ok() {}
            }
            None => pause(&mut [], Some(&LOOK_EVERY)),
        }
        if sender.send(word()).is_err() {
            return;
        }
    }
}

/// Waits for a while.
pub(crate) fn pause_for(time: std::time::Duration) {
    pause(&mut [], Timespec::try_from(time).ok().as_ref());
}

/// Waits for one of the files, or for the time. A wait that fails or is cut
/// short is a shorter wait: whoever waited looks for itself.
pub(crate) fn pause(waits: &mut [PollFd<'_>], time: Option<&Timespec>) {
    match poll(waits, time) {
        Ok(_) | Err(_) => {}
    }
}
