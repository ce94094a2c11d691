//! What a worker has to say beside the log of its run. It goes to the error
//! output. That of a copy of a launcher leads nowhere until there is something
//! to say, and from then on into the run's `worker.log`: most runs have none.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use runstore::RunPlace;
use rustix::stdio::dup2_stderr;

/// Where the error output is to lead once something is said.
static AWAITED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Lets what is said from here on, panics too, stand in the run's folder.
pub(crate) fn keep(place: &RunPlace) {
    *AWAITED.lock().unwrap_or_else(PoisonError::into_inner) = Some(place.worker_log());
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        open();
        print(panic);
    }));
}

/// Says a line. It is the word of last resort: where it cannot be written
/// there is none.
pub(crate) fn say(text: &dyn Display) {
    open();
    drop(writeln!(std::io::stderr(), "{text}"));
}

fn open() {
    let path = AWAITED.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(path) = path else { return };
    let log = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    drop(log.map(dup2_stderr));
}
