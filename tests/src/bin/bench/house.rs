//! Where everything is measured: a folder on the disk that the programs
//! were built on, so that a sync is a real one, and the programs beside this
//! one, started with an environment of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use world::Draft;

use crate::Failure;
use crate::measure::timed;

/// Starts of a short program that make one sample, so that its few
/// milliseconds are not lost in those of the kernel's clock tick.
const STARTS: u32 = 10;

/// What is started, beside what makes many runs.
const PROGRAMS: [&str; 5] = ["wardian", "bench_floor", "bench_hello", "bench_fold", "bench_lines"];

#[derive(Debug)]
pub(crate) struct House {
    folder: TempDir,
    programs: PathBuf,
}

/// A home of its own for each thing that is measured.
#[derive(Debug)]
pub(crate) struct Homestead<'a> {
    house: &'a House,
    pub(crate) home: PathBuf,
}

impl House {
    pub(crate) fn build() -> Result<Self, Failure> {
        let programs = std::env::current_exe()?;
        let programs = programs.parent().ok_or("this program is in no folder")?.to_owned();
        let house = Self { folder: TempDir::with_prefix_in("bench-", &programs)?, programs };
        for name in PROGRAMS {
            house.install(name)?;
        }
        Ok(house)
    }

    /// Copies a program, as an installation does: what a linker has just
    /// written starts slower, since it lies in the cache by small parts.
    fn install(&self, name: &str) -> Result<(), Failure> {
        let built = self.programs.join(name);
        if !built.is_file() {
            return Err(format!("{name} is not built; start this by `cargo xtask bench`").into());
        }
        fs::copy(built, self.installed(name))?;
        Ok(())
    }

    fn installed(&self, name: &str) -> PathBuf {
        self.path(&format!("bin-{name}"))
    }

    pub(crate) fn has(&self, program: &str) -> bool {
        self.programs.join(program).is_file()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn homestead(&self, name: &str) -> Homestead<'_> {
        Homestead { house: self, home: self.path(name) }
    }

    /// The automation as a file.
    pub(crate) fn file(&self, name: &str, draft: &Draft) -> Result<PathBuf, Failure> {
        let path = self.path(&format!("{name}.md"));
        fs::write(&path, draft.text())?;
        Ok(path)
    }

    /// One of the programs that were built.
    pub(crate) fn command(&self, program: &str) -> Command {
        let installed = self.installed(program);
        let path = if installed.is_file() { installed } else { self.programs.join(program) };
        let mut command = Command::new(path);
        command.current_dir(self.folder.path()).env_clear().env("HOME", self.folder.path());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// A program of its own, in the same surroundings.
    pub(crate) fn program(&self, path: &Path) -> Command {
        self.command(&path.display().to_string())
    }

    /// The floor's own log is removed first, so that each is a new one.
    pub(crate) fn floor(&self, log: &str, steps: usize) -> Result<Command, Failure> {
        let log = self.path(log);
        if log.exists() {
            fs::remove_file(&log)?;
        }
        let mut command = self.command("bench_floor");
        command.arg(log).arg(steps.to_string());
        Ok(command)
    }

    /// How long `wardian --version` takes.
    pub(crate) fn version(&self) -> Result<Duration, Failure> {
        let mut command = self.command("wardian");
        command.arg("--version");
        many(&mut command)
    }

    /// How long the smallest program of the kind takes.
    pub(crate) fn hello(&self) -> Result<Duration, Failure> {
        many(&mut self.command("bench_hello"))
    }
}

impl Homestead<'_> {
    pub(crate) fn wardian(&self, args: &[&str]) -> Command {
        let mut command = self.house.command("wardian");
        command.args(args).arg("--json").arg("--home").arg(&self.home);
        command
    }

    pub(crate) fn exec(&self, automation: &Path) -> Command {
        self.wardian(&["automation", "exec", &automation.display().to_string()])
    }
}

/// How long one start takes, of several.
pub(crate) fn many(command: &mut Command) -> Result<Duration, Failure> {
    let took = timed(|| (0..STARTS).try_for_each(|_| ended(command.spawn()?)))?;
    Ok(took / STARTS)
}

/// How long the command takes to its end, which must be a good one.
pub(crate) fn once(command: &mut Command) -> Result<Duration, Failure> {
    timed(|| ended(command.spawn()?))
}

/// How long all of them take, started at once.
pub(crate) fn at_once(commands: &mut [Command]) -> Result<Duration, Failure> {
    timed(|| {
        let started = commands.iter_mut().map(Command::spawn).collect::<Result<Vec<_>, _>>()?;
        started.into_iter().try_for_each(ended)
    })
}

fn ended(mut child: Child) -> Result<(), Failure> {
    let status = child.wait()?;
    if status.success() { Ok(()) } else { Err(format!("a program ended with {status}").into()) }
}
