//! Names of places where something goes wrong, so that one command line
//! repeats it: `gate:17:before:power-3`, and after a second mishap in the
//! recovery `gate:17:before:power-3+5:after:process`. Pure.

use std::fmt;
use std::io::ErrorKind;
use std::str::FromStr;

use durable::sim::{Crash, Fault, SimDisk};

/// What goes wrong at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mishap {
    Crash(Crash),
    Fail {
        how: Failing,
        forever: bool,
    },
    /// A call that only looks fails.
    Blind,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failing {
    /// An error of the device.
    Device,
    Full,
    /// So many bytes get through.
    Short(usize),
}

/// What is left for the next process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    Process,
    Power(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub call: usize,
    pub mishap: Mishap,
    pub left: Left,
}

/// A scenario and one mishap, or two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    pub scenario: String,
    pub first: Step,
    pub second: Option<Step>,
}

impl Mishap {
    /// Plans it for the call with this number.
    pub fn plan(self, disk: &SimDisk, call: usize) {
        match self {
            Self::Crash(crash) => disk.crash_at(call, crash),
            Self::Fail { how, forever } => {
                let fault = match how {
                    Failing::Device => Fault::error(ErrorKind::Other),
                    Failing::Full => Fault::error(ErrorKind::StorageFull),
                    Failing::Short(bytes) => Fault::short_write(bytes),
                };
                disk.fail_at(call, if forever { fault.forever() } else { fault });
            }
            Self::Blind => disk.fail_look_at(call, ErrorKind::Other),
        }
    }
}

impl fmt::Display for Mishap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash(Crash::Before) => f.write_str("before"),
            Self::Crash(Crash::After) => f.write_str("after"),
            Self::Crash(Crash::Prefix(bytes)) => write!(f, "prefix-{bytes}"),
            Self::Fail { how, forever } => {
                match how {
                    Failing::Device => f.write_str("eio")?,
                    Failing::Full => f.write_str("enospc")?,
                    Failing::Short(bytes) => write!(f, "short-{bytes}")?,
                }
                f.write_str(if *forever { "!" } else { "" })
            }
            Self::Blind => f.write_str("blind"),
        }
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process => f.write_str("process"),
            Self::Power(at) => write!(f, "power-{at}"),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.call, self.mishap, self.left)
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.scenario, self.first)?;
        self.second.map_or(Ok(()), |second| write!(f, "+{second}"))
    }
}

fn number(text: &str, before: &str) -> Option<usize> {
    text.strip_prefix(before)?.parse().ok()
}

fn mishap(text: &str) -> Option<Mishap> {
    let (word, forever) = match text.strip_suffix('!') {
        Some(word) => (word, true),
        None => (text, false),
    };
    let fail = |how| Some(Mishap::Fail { how, forever });
    match word {
        "before" => Some(Mishap::Crash(Crash::Before)),
        "after" => Some(Mishap::Crash(Crash::After)),
        "eio" => fail(Failing::Device),
        "enospc" => fail(Failing::Full),
        "blind" => Some(Mishap::Blind),
        _ => match (number(word, "prefix-"), number(word, "short-")) {
            (Some(bytes), _) => Some(Mishap::Crash(Crash::Prefix(bytes))),
            (_, Some(bytes)) => fail(Failing::Short(bytes)),
            (None, None) => None,
        },
    }
}

fn step(text: &str) -> Option<Step> {
    let mut parts = text.splitn(3, ':');
    let call = parts.next()?.parse().ok()?;
    let mishap = mishap(parts.next()?)?;
    let left = match parts.next()? {
        "process" => Left::Process,
        power => Left::Power(number(power, "power-")?),
    };
    Some(Step { call, mishap, left })
}

impl FromStr for Spot {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let spot = || {
            let (scenario, rest) = text.split_once(':')?;
            let (first, second) = match rest.split_once('+') {
                Some((first, second)) => (step(first)?, Some(step(second)?)),
                None => (step(rest)?, None),
            };
            Some(Self { scenario: scenario.to_owned(), first, second })
        };
        spot().ok_or_else(|| {
            format!("`{text}` names no spot; one is `gate:17:before:power-3` or `…+5:eio!:process`")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spot_is_read_as_it_is_written() {
        for text in [
            "gate:17:before:process",
            "gate:0:after:power-12",
            "seed-77:3:prefix-40:power-0+5:eio!:process",
            "a-b:3:short-100:process+0:blind:power-9",
            "x:1:enospc:process",
        ] {
            assert_eq!(text.parse::<Spot>().unwrap().to_string(), text);
        }
        for text in ["", "gate", "gate:x:before:process", "gate:1:never:process", "g:1:eio:power"] {
            assert!(text.parse::<Spot>().is_err(), "{text}");
        }
    }
}
