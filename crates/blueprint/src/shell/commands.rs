//! What is known of commands: which ones run, evaluate or interpret their
//! arguments, and which variables some program takes for code.

/// What a command does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// It takes them as data.
    Plain,
    Evaluates,
    Interprets,
    Declares,
    Shell,
    /// It runs a script file that its first operand names; the flags are the
    /// letters that may stand before it.
    Interpreter(&'static str),
    Wrapper(Wrapper),
    Printf,
    Test,
    Find,
    Git,
    Set,
}

/// A command that runs the command among its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wrapper {
    pub(super) flags: &'static str,
    /// Options that take a value, in the same word or the next.
    pub(super) with_value: &'static str,
    /// Long options; those that end in `=` hold their value.
    pub(super) long: &'static [&'static str],
    /// Operands before the command.
    pub(super) operands: usize,
    /// Assignments may stand before the command.
    pub(super) assigns: bool,
}

const PLAIN_WRAPPER: Wrapper =
    Wrapper { flags: "", with_value: "", long: &[], operands: 0, assigns: false };

static EVALUATES: &[&str] = &[
    "alias",
    "at",
    "batch",
    "bg",
    "bind",
    "compgen",
    "complete",
    "compopt",
    "crontab",
    "disown",
    "enable",
    "entr",
    "eval",
    "fc",
    "fg",
    "getopts",
    "hash",
    "history",
    "jobs",
    "let",
    "make",
    "gmake",
    "mapfile",
    "npx",
    "parallel",
    "read",
    "readarray",
    "rsh",
    "runuser",
    "screen",
    "script",
    "shopt",
    "source",
    "ssh",
    "sshpass",
    "su",
    "systemd-run",
    "tmux",
    "trap",
    "unalias",
    "unset",
    "wait",
    "watch",
    "xterm",
];

static INTERPRETS: &[&str] = &[
    "awk",
    "bc",
    "bun",
    "dc",
    "deno",
    "duckdb",
    "ed",
    "emacs",
    "ex",
    "gawk",
    "gdb",
    "ghci",
    "gsed",
    "jshell",
    "lldb",
    "m",
    "mariadb",
    "mawk",
    "mysql",
    "nawk",
    "nvim",
    "osascript",
    "psql",
    "sed",
    "sqlite",
    "vi",
    "view",
    "vim",
];

static DECLARES: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

const SHELLS: &[&str] =
    &["ash", "bash", "csh", "dash", "fish", "hush", "ksh", "mksh", "rbash", "sh", "tcsh", "zsh"];

static INTERPRETERS: &[(&str, &str)] = &[
    ("elixir", ""),
    ("expect", ""),
    ("guile", ""),
    ("julia", ""),
    ("lua", ""),
    ("luajit", ""),
    ("node", ""),
    ("nodejs", ""),
    ("perl", "wWtT"),
    ("php", ""),
    ("powershell", ""),
    ("pwsh", ""),
    ("pypy", "uBEIsSOqbvd"),
    ("python", "uBEIsSOqbvd"),
    ("rscript", ""),
    ("ruby", "wW"),
    ("tclsh", ""),
    ("wish", ""),
];

static WRAPPERS: &[(&str, Wrapper)] = &[
    ("builtin", PLAIN_WRAPPER),
    ("busybox", PLAIN_WRAPPER),
    ("chroot", Wrapper { long: &["--userspec=", "--groups="], operands: 1, ..PLAIN_WRAPPER }),
    ("command", Wrapper { flags: "p", ..PLAIN_WRAPPER }),
    ("doas", Wrapper { flags: "nL", with_value: "uC", ..PLAIN_WRAPPER }),
    (
        "env",
        Wrapper {
            flags: "i0v",
            with_value: "uC",
            long: &["--ignore-environment", "--null", "--debug", "--unset=", "--chdir="],
            assigns: true,
            ..PLAIN_WRAPPER
        },
    ),
    ("exec", Wrapper { flags: "cl", with_value: "a", ..PLAIN_WRAPPER }),
    ("flock", Wrapper { flags: "nsxuoFe", with_value: "wE", operands: 1, ..PLAIN_WRAPPER }),
    ("ionice", Wrapper { flags: "t", with_value: "cn", ..PLAIN_WRAPPER }),
    (
        "nice",
        Wrapper { flags: "0123456789", with_value: "n", long: &["--adjustment="], ..PLAIN_WRAPPER },
    ),
    ("nohup", PLAIN_WRAPPER),
    ("pkexec", PLAIN_WRAPPER),
    ("setsid", Wrapper { flags: "cwf", ..PLAIN_WRAPPER }),
    (
        "stdbuf",
        Wrapper {
            with_value: "ioe",
            long: &["--input=", "--output=", "--error="],
            ..PLAIN_WRAPPER
        },
    ),
    (
        "sudo",
        Wrapper {
            flags: "AbEHnPSkK",
            with_value: "ugpCDRTh",
            long: &["--preserve-env", "--user=", "--group="],
            assigns: true,
            ..PLAIN_WRAPPER
        },
    ),
    ("taskset", Wrapper { flags: "ac", operands: 1, ..PLAIN_WRAPPER }),
    ("time", Wrapper { flags: "pavq", with_value: "fo", ..PLAIN_WRAPPER }),
    (
        "timeout",
        Wrapper {
            flags: "fpv",
            with_value: "ks",
            long: &["--preserve-status", "--foreground", "--verbose", "--kill-after=", "--signal="],
            operands: 1,
            ..PLAIN_WRAPPER
        },
    ),
    ("toybox", PLAIN_WRAPPER),
    (
        "xargs",
        Wrapper {
            flags: "0rtpxo",
            with_value: "InLPdEsa",
            long: &[
                "--null",
                "--no-run-if-empty",
                "--verbose",
                "--max-args=",
                "--max-procs=",
                "--replace=",
                "--delimiter=",
                "--arg-file=",
                "--max-lines=",
            ],
            ..PLAIN_WRAPPER
        },
    ),
];

/// Words that a shell reads as its own where a command begins.
pub(super) static RESERVED: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "until", "while", "{", "}",
];

/// Variables whose text a shell or some common program runs or evaluates,
/// or that decide what a name means.
static CODE_VARIABLES: &[&str] = &[
    "BROWSER",
    "CDPATH",
    "COMP_CWORD",
    "COMP_POINT",
    "DIRSTACK",
    "EDITOR",
    "ENV",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FCEDIT",
    "FPATH",
    "FUNCNEST",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GLOBIGNORE",
    "HISTCMD",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "LESSCLOSE",
    "LESSOPEN",
    "LINENO",
    "MAIL",
    "MAILCHECK",
    "MAILPATH",
    "MAKEFLAGS",
    "MANPAGER",
    "NODE_OPTIONS",
    "NODE_PATH",
    "OPTIND",
    "PAGER",
    "PATH",
    "PPID",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "RANDOM",
    "RUBYLIB",
    "RUBYOPT",
    "SECONDS",
    "SHELL",
    "SHELLOPTS",
    "SRANDOM",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "TAR_OPTIONS",
    "TMOUT",
    "UID",
    "VISUAL",
];

static CODE_PREFIXES: &[&str] =
    &["BASH", "DYLD_", "GIT_CONFIG", "LD_", "PERL", "PYTHON", "WARDIAN_V"];

/// Long options of any command whose value is run.
static CODE_OPTIONS: &[&str] = &[
    "action", "cmd", "command", "eval", "exec", "pack", "pager", "program", "rsh", "shell",
    "editor",
];

/// Tests of one operand, and of two, that only compare.
pub(super) static UNARY_TESTS: &[&str] = &[
    "-G", "-L", "-N", "-O", "-S", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-n", "-p", "-r",
    "-s", "-t", "-u", "-w", "-x", "-z",
];
pub(super) static BINARY_TESTS: &[&str] =
    &["!=", "-ef", "-eq", "-ge", "-gt", "-le", "-lt", "-ne", "-nt", "-ot", "<", "=", "==", ">"];

/// Tests that some shells evaluate what they are given for.
pub(super) fn is_evaluating_test(word: &str) -> bool {
    matches!(word, "-v" | "-R" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}

/// Tests of `find` that take the next word as it is.
pub(super) static FIND_TESTS: &[&str] = &[
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-newer",
    "-path",
    "-perm",
    "-regex",
    "-samefile",
    "-size",
    "-type",
    "-uid",
    "-user",
    "-wholename",
    "-xtype",
];
pub(super) static FIND_ACTIONS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

/// The name by which a command is judged: without its folder, in small
/// letters, without the number of its version.
pub(super) fn base(command: &str) -> String {
    let name = command.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    if bare.is_empty() { name.to_owned() } else { bare.to_owned() }
}

pub(super) fn manner(command: &str) -> Manner {
    if command == "." {
        return Manner::Evaluates;
    }
    let base = base(command);
    let base = base.as_str();
    let interpreter = INTERPRETERS.iter().find(|(name, _)| *name == base);
    let wrapper = WRAPPERS.iter().find(|(name, _)| *name == base);
    match (base, interpreter, wrapper) {
        (_, Some((_, flags)), _) => Manner::Interpreter(flags),
        (_, None, Some((_, wrapper))) => Manner::Wrapper(*wrapper),
        ("printf", None, None) => Manner::Printf,
        ("test" | "[", None, None) => Manner::Test,
        ("find", None, None) => Manner::Find,
        ("git", None, None) => Manner::Git,
        ("set", None, None) => Manner::Set,
        _ if SHELLS.contains(&base) => Manner::Shell,
        _ if EVALUATES.contains(&base) => Manner::Evaluates,
        _ if INTERPRETS.contains(&base) => Manner::Interprets,
        _ if DECLARES.contains(&base) => Manner::Declares,
        _ => Manner::Plain,
    }
}

pub(super) fn is_code_variable(name: &str) -> bool {
    CODE_VARIABLES.contains(&name) || CODE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// `--exec`, `--to-command=` and the like.
pub(super) fn is_code_option(text: &str) -> bool {
    let Some(name) = text.strip_prefix("--") else { return false };
    let name = name.split('=').next().unwrap_or_default();
    name.rsplit('-').next().is_some_and(|last| CODE_OPTIONS.contains(&last))
}
