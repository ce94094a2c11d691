//! Who asks: the operating system's user, and whether the caller runs inside
//! one of our own runs. A name is never an argument.

use engine::{RunId, Signal, SignalId, Verb};
use serde_json::json;

use crate::Host;
use crate::api::{Code, HostError};

impl Host {
    /// The user as the operating system knows it.
    pub(crate) fn actor() -> String {
        let uid = rustix::process::getuid().as_raw();
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        user_name(&passwd, uid).map_or_else(|| format!("uid:{uid}"), str::to_owned)
    }

    pub(crate) fn new_signal_id(&self) -> SignalId {
        runstore::inbox::new_signal_id(self.clock.now(), &*self.entropy)
    }

    /// Refuses a verb that only people have, when the caller runs inside a
    /// run; that run's log tells of the try.
    pub(crate) fn refuse_managed_caller(&self, verb: &str) -> Result<(), HostError> {
        let Some(caller) = providers::caller() else { return Ok(()) };
        let run = caller.run_id.or(caller.session_id).unwrap_or_default();
        self.record_denied(&run, verb);
        let message = format!("a caller inside run `{run}` may not {verb}");
        Err(HostError::new(Code::ManagedCaller, message)
            .hint("a person decides this, in a terminal that no run has started")
            .details(json!({ "run_id": run, "verb": verb })))
    }

    /// Best effort: the refusal stands whether or not it can be recorded.
    fn record_denied(&self, run: &str, verb: &str) {
        let Ok(run) = RunId::new(run) else { return };
        let Ok(place) = self.find(run.as_str()) else { return };
        let signal = Signal {
            id: self.new_signal_id(),
            verb: Verb::Denied { verb: verb.to_owned() },
            actor: Self::actor(),
            note: None,
        };
        drop(runstore::inbox::put(&*self.disk, &place, &signal, &*self.entropy));
    }
}

fn user_name(passwd: &str, uid: u32) -> Option<&str> {
    let uid = uid.to_string();
    let lines = passwd.lines().map(|line| line.split(':'));
    lines
        .filter_map(|mut fields| {
            let name = fields.next()?;
            (fields.nth(1)? == uid && !name.is_empty()).then_some(name)
        })
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_number() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nkim:x:1000:1000::/home/kim:/bin/sh\n";
        assert_eq!(user_name(passwd, 1000), Some("kim"));
        assert_eq!(user_name(passwd, 0), Some("root"));
        assert_eq!(user_name(passwd, 7), None);
        assert_eq!(user_name("garbage\n::\n", 0), None);
    }
}
