//! What the process was given: arguments, environment, folders. Read once,
//! at the start, and handed on as values.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use host::HostConfig;
use host::api::{Code, HostError};

use crate::style::Settings;

#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(crate) args: Vec<OsString>,
    /// `WARDIAN_HOME`
    pub(crate) wardian_home: Option<PathBuf>,
    /// `HOME`
    pub(crate) user_home: Option<PathBuf>,
    pub(crate) executable: Option<PathBuf>,
    pub(crate) current_dir: Option<PathBuf>,
    pub(crate) settings: Settings,
}

impl Surroundings {
    /// What the host needs, for the home that the flag, the environment or
    /// the user's own folder names.
    pub(crate) fn host_config(&self, flag: Option<&Path>) -> Result<HostConfig, HostError> {
        let missing = |what: &str, hint: &str| HostError::new(Code::Internal, what).hint(hint);
        let current_dir = self.current_dir.clone().ok_or_else(|| {
            missing("the current folder is gone", "change to a folder that exists")
        })?;
        let executable = self.executable.clone().ok_or_else(|| {
            missing("this program cannot find its own file", "call it by its full path")
        })?;
        let default = self.user_home.as_ref().map(|home| home.join(".wardian"));
        let home = flag.map(Path::to_owned).or_else(|| self.wardian_home.clone()).or(default);
        let home = home.ok_or_else(|| {
            missing("there is no home to work in", "name a folder with --home or WARDIAN_HOME")
        })?;
        Ok(HostConfig { home: current_dir.join(home), executable, current_dir })
    }

    /// How a person calls this program for this home, so that a command that
    /// is shown can be copied and works.
    pub(crate) fn program(&self, home: Option<&Path>) -> String {
        let called = self.args.first().and_then(|name| name.to_str()).unwrap_or("wardian");
        let program = if called.contains('/') { quote(called) } else { "wardian".to_owned() };
        match home {
            Some(home) => format!("{program} --home {}", quote(&home.display().to_string())),
            None => program,
        }
    }
}

/// A text as one word of a shell.
pub(crate) fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=@%,".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(args: &[&str]) -> Surroundings {
        Surroundings {
            args: args.iter().map(OsString::from).collect(),
            wardian_home: Some(PathBuf::from("/from/env")),
            user_home: Some(PathBuf::from("/home/kim")),
            executable: Some(PathBuf::from("/bin/wardian")),
            current_dir: Some(PathBuf::from("/here")),
            settings: Settings::default(),
        }
    }

    #[test]
    fn the_flag_outweighs_the_environment_and_that_the_default() {
        let mut around = surroundings(&["wardian"]);
        let home = |around: &Surroundings, flag: Option<&str>| {
            around.host_config(flag.map(Path::new)).unwrap().home.display().to_string()
        };
        assert_eq!(home(&around, Some("x")), "/here/x");
        assert_eq!(home(&around, None), "/from/env");
        around.wardian_home = None;
        assert_eq!(home(&around, None), "/home/kim/.wardian");
        around.user_home = None;
        assert!(around.host_config(None).is_err());
    }

    #[test]
    fn a_shown_command_calls_the_same_program_and_home() {
        assert_eq!(surroundings(&["wardian"]).program(None), "wardian");
        assert_eq!(
            surroundings(&["target/release/wardian"]).program(None),
            "target/release/wardian"
        );
        let program = surroundings(&["wardian"]).program(Some(Path::new("/tmp/it's here")));
        assert_eq!(program, "wardian --home '/tmp/it'\\''s here'");
    }
}
