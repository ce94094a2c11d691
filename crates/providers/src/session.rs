//! Starting a program in a session of its own by the one call that does not
//! copy this process first. A copy takes longer the more memory is in use,
//! and most of what starting a command takes.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nix::libc::POSIX_SPAWN_SETSID;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::{SigSet, Signal};
use rustix::fs::{Access, access};

/// What to start, in the folder in which this process stands.
#[derive(Debug)]
pub struct Start<'a> {
    /// A path; it is not looked for.
    pub program: &'a Path,
    /// The first one is the name that the program is called by.
    pub args: Vec<&'a OsStr>,
    pub env: Vec<(&'a OsStr, &'a OsStr)>,
    /// Its standard input, output and error output. Nothing else of ours
    /// that is open reaches it.
    pub stdio: [BorrowedFd<'a>; 3],
}

/// Starts the program and gives its process id. It leads a session of its
/// own and holds back no signal, whatever its starter does.
pub fn start(start: &Start<'_>) -> io::Result<i32> {
    let text = |bytes: Vec<u8>| CString::new(bytes).map_err(io::Error::from);
    let args = start.args.iter().map(|arg| text(arg.as_bytes().to_vec()));
    let args: Vec<CString> = args.collect::<Result<_, _>>()?;
    let env = start
        .env
        .iter()
        .map(|(name, value)| text([name.as_bytes(), b"=", value.as_bytes()].concat()));
    let env: Vec<CString> = env.collect::<Result<_, _>>()?;
    let mut actions = PosixSpawnFileActions::init()?;
    for (fd, number) in start.stdio.iter().zip(0..) {
        actions.add_dup2(fd.as_raw_fd(), number)?;
    }
    let pid = posix_spawn(start.program, &actions, &attributes()?, &args, &env)?;
    Ok(pid.as_raw())
}

/// Makes this process, a copy of its starter, lead a session of its own and
/// hold back no signal.
pub fn lead() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(SigSet::empty().thread_set_mask()?)
}

/// Closes all that this process was given beside its three streams. Whoever
/// holds the other end of such a descriptor waits for its closing, and a
/// process that outlives its starter would keep it open for as long. To be
/// called before anything is opened.
pub fn close_inherited() -> io::Result<()> {
    let mut open: Vec<RawFd> = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        open.extend(entry?.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok()));
    }
    for number in open.into_iter().filter(|number| *number > 2) {
        // The one that the folder was read through is closed already.
        let _closed = nix::unistd::close(number);
    }
    Ok(())
}

/// A session of its own, no signal held back, and the one that this process
/// ignores from its start as it was before.
fn attributes() -> io::Result<PosixSpawnAttr> {
    let session = PosixSpawnFlags::from_bits_retain(i32::from(POSIX_SPAWN_SETSID));
    let signals = PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF;
    let mut attributes = PosixSpawnAttr::init()?;
    attributes.set_flags(session | signals)?;
    attributes.set_sigmask(&SigSet::empty())?;
    attributes.set_sigdefault(&SigSet::from(Signal::SIGPIPE))?;
    Ok(attributes)
}

/// The first program of this name in the folders of `path`, a list as in
/// `PATH`. A name with a slash in it is a path already.
pub(crate) fn find_program(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(program.into()).filter(|file: &PathBuf| is_program(file));
    }
    // An empty entry means the current folder.
    let folders = path.as_bytes().split(|byte| *byte == b':');
    let mut files = folders.map(|folder| {
        let folder = if folder.is_empty() { b"." } else { folder };
        PathBuf::from(OsString::from_vec(folder.to_vec())).join(program)
    });
    files.find(|file| is_program(file))
}

/// Whether this is a file that may be executed.
pub(crate) fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(program: &str, path: &str) -> Option<String> {
        let file = find_program(program.as_ref(), path.as_ref());
        file.map(|file| file.display().to_string())
    }

    #[test]
    fn a_program_is_the_first_file_of_its_name_that_may_be_executed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        std::fs::write(folder.path().join("sh"), "no program").unwrap();
        std::fs::create_dir(folder.path().join("ls")).unwrap();
        for program in ["sh", "ls"] {
            let file = found(program, &format!("{path}:/no/such/folder:/bin:/usr/bin"));
            assert_eq!(file, Some(format!("/bin/{program}")));
        }
    }

    #[test]
    fn a_path_is_not_looked_for_and_what_is_not_there_is_not_found() {
        assert_eq!(found("/bin/sh", "/no/such/folder"), Some("/bin/sh".to_owned()));
        assert_eq!(found("/bin", "/"), None);
        assert_eq!(found("no-such-program-here", "/bin:/usr/bin"), None);
        assert_eq!(found("sh", ""), None);
    }

    #[test]
    fn a_zero_byte_in_an_argument_starts_nothing() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let fd = std::os::fd::AsFd::as_fd(&null);
        let args = vec!["true".as_ref(), "a\0b".as_ref()];
        let env = Vec::new();
        let refused = start(&Start { program: "/bin/true".as_ref(), args, env, stdio: [fd; 3] });
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
