//! What a child's environment is made of: a short list of the host's own
//! variables, what the work asks for, and the marks by which the child and
//! its descendants are found again. Nothing else of the host reaches a child.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use engine::AttemptKey;

use crate::programs::Programs;

/// Marks every process of a run; read after a crash, and by a command that
/// wants to know whether it runs inside a run.
pub(crate) const RUN_MARK: &str = "WARDIAN_RUN_ID";

/// Marks every process of one attempt.
pub(crate) const ATTEMPT_MARK: &str = "WARDIAN_ATTEMPT";

/// The host's own environment, of which a child gets what is named.
#[derive(Clone)]
pub struct HostEnv {
    vars: BTreeMap<OsString, OsString>,
    /// Those of them that every child gets: there may be many others.
    by_default: BTreeMap<OsString, OsString>,
    programs: Programs,
}

/// The names of one attempt, as its processes carry them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marks {
    pub run: String,
    pub attempt: String,
}

/// The whole environment of a child. It always carries the marks, so no
/// child can be started that could not be found again.
#[derive(Clone)]
pub struct ChildEnv {
    vars: BTreeMap<OsString, OsString>,
    marks: Marks,
    programs: Programs,
}

impl HostEnv {
    /// What every child gets when the host has it, besides all `LC_*`: where
    /// programs, the person's files and our own home are, how to speak and
    /// to draw. No name here ever holds a credential.
    pub const DEFAULT: [&str; 10] = [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "TZ",
        "TERM",
        "TMPDIR",
        "WARDIAN_HOME",
    ];

    pub fn new(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let vars: BTreeMap<OsString, OsString> = vars.into_iter().collect();
        let is_default = |name: &OsStr| {
            name.to_str().is_some_and(|n| Self::DEFAULT.contains(&n) || n.starts_with("LC_"))
        };
        let by_default = vars.iter().filter(|(name, _)| is_default(name));
        let by_default = by_default.map(|(name, value)| (name.clone(), value.clone())).collect();
        Self { vars, by_default, programs: Programs::default() }
    }

    /// The environment of this process.
    pub fn current() -> Self {
        Self::new(std::env::vars_os())
    }

    /// What this variable is here, if it is set.
    pub(crate) fn value(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// The default list, then the names in `pass` that are set here, then
    /// `set`, then the marks: those come last, so nothing can hide a child.
    pub fn child(&self, pass: &[String], set: &[(String, String)], marks: Marks) -> ChildEnv {
        let mut vars = self.by_default.clone();
        let passed = pass.iter().filter_map(|name| Some((name.into(), self.value(name)?.into())));
        vars.extend(passed);
        vars.extend(set.iter().map(|(name, value)| (name.into(), value.into())));
        vars.insert(RUN_MARK.into(), OsString::from(&marks.run));
        vars.insert(ATTEMPT_MARK.into(), OsString::from(&marks.attempt));
        ChildEnv { vars, marks, programs: self.programs.clone() }
    }
}

impl Marks {
    pub fn of(key: &AttemptKey) -> Self {
        Self { run: key.run.to_string(), attempt: key.to_string() }
    }
}

impl ChildEnv {
    pub fn vars(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.vars.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The program of this name in the folders of its own `PATH`.
    pub(crate) fn find(&self, program: &OsStr) -> Option<PathBuf> {
        self.programs.find(program, self.vars.get(OsStr::new("PATH"))?)
    }

    /// It was not there when it was to be started.
    pub(crate) fn forget(&self, program: &OsStr) {
        if let Some(path) = self.vars.get(OsStr::new("PATH")) {
            self.programs.forget(program, path);
        }
    }

    pub(crate) fn marks(&self) -> &Marks {
        &self.marks
    }
}

/// Names alone: the values of an environment are not for eyes.
impl fmt::Debug for HostEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.vars.keys()).finish()
    }
}

/// Names alone, as for [`HostEnv`].
impl fmt::Debug for ChildEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.vars.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(pairs: &[(&str, &str)]) -> HostEnv {
        HostEnv::new(pairs.iter().map(|(n, v)| (n.into(), v.into())))
    }

    fn marks() -> Marks {
        Marks { run: "r1".to_owned(), attempt: "r1/a/0/1".to_owned() }
    }

    fn text(env: &ChildEnv) -> Vec<String> {
        env.vars().map(|(n, v)| format!("{}={}", n.display(), v.display())).collect()
    }

    #[test]
    fn a_child_gets_the_list_the_passed_the_set_and_the_marks_and_nothing_else() {
        let host = host(&[
            ("AWS_SECRET_ACCESS_KEY", "canary1"),
            ("HOME", "/home/p"),
            ("LC_TIME", "C"),
            ("LD_PRELOAD", "canary2"),
            ("PATH", "/bin"),
            ("WANTED", "w"),
            ("WARDIAN_SESSION_ID", "outer"),
        ]);
        let pass = ["WANTED".to_owned(), "NOT_SET_HERE".to_owned()];
        let set = [("WARDIAN_V1".to_owned(), "one".to_owned())];
        assert_eq!(
            text(&host.child(&pass, &set, marks())),
            [
                "HOME=/home/p",
                "LC_TIME=C",
                "PATH=/bin",
                "WANTED=w",
                "WARDIAN_ATTEMPT=r1/a/0/1",
                "WARDIAN_RUN_ID=r1",
                "WARDIAN_V1=one",
            ]
        );
    }

    #[test]
    fn what_the_work_sets_wins_over_the_host_and_the_marks_win_over_all() {
        let host = host(&[("PATH", "/bin"), ("WARDIAN_RUN_ID", "outer")]);
        let set = [("PATH", "/mine"), ("WARDIAN_ATTEMPT", "hidden"), ("WARDIAN_RUN_ID", "hidden")]
            .map(|(n, v)| (n.to_owned(), v.to_owned()));
        let pass = ["WARDIAN_RUN_ID".to_owned()];
        let expected = ["PATH=/mine", "WARDIAN_ATTEMPT=r1/a/0/1", "WARDIAN_RUN_ID=r1"];
        assert_eq!(text(&host.child(&pass, &set, marks())), expected);
    }

    #[test]
    fn debug_output_shows_no_value() {
        let host = host(&[("PATH", "/secret")]);
        let child = host.child(&[], &[], marks());
        assert!(!format!("{host:?} {child:?}").contains("/secret"));
    }
}
