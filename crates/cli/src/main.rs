//! The `wardian` command: arguments in, a host asked, its answer shown. It
//! has no rules of its own; what a web page would need as well is in `host`.
//! Here the process is read, once: arguments, environment, folders.

mod args;
mod command;
mod console;
mod error;
mod exit;
mod output;
mod style;
mod surroundings;
mod viewer;

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use style::Settings;
use surroundings::Surroundings;

fn main() -> ExitCode {
    command::main(&surroundings()).into()
}

fn surroundings() -> Surroundings {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let text = |name: &str| set(name).map(|value| value.to_string_lossy().into_owned());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(text);
    let not_zero = |value: OsString| value != "0";
    Surroundings {
        args: env::args_os().collect(),
        wardian_home: set("WARDIAN_HOME").map(PathBuf::from),
        user_home: set("HOME").map(PathBuf::from),
        executable: env::current_exe().ok(),
        current_dir: env::current_dir().ok(),
        settings: Settings {
            no_color: set("NO_COLOR").is_some(),
            force_color: set("CLICOLOR_FORCE").is_some_and(not_zero),
            dumb_terminal: text("TERM").is_none_or(|term| term == "dumb"),
            unicode: locale.is_some_and(|locale| style::is_utf8(&locale)),
        },
    }
}
