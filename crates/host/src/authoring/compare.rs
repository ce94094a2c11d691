//! Two graphs side by side, each from a file, from the library, or from what
//! a run keeps of its own.

use std::sync::Arc;

use blueprint::{Program, diff};

use crate::Host;
use crate::api::authoring::{DiffReport, Side};
use crate::api::{Code, HostError};
use crate::launch::invalid_blueprint;

impl Host {
    /// What differs from `old` to `new`, each a file, the id of an
    /// automation, or a run.
    pub fn diff(&self, old: &str, new: &str) -> Result<DiffReport, HostError> {
        let (old, new) = (self.side(old)?, self.side(new)?);
        let differences = diff(&old.1, &new.1);
        Ok(DiffReport { old: old.0, new: new.0, differences })
    }

    fn side(&self, query: &str) -> Result<(Side, Arc<Program>), HostError> {
        let (label, program) = match self.checked(query) {
            Ok((checked, Some(program))) => {
                (checked.source.path.display().to_string(), Arc::new(program))
            }
            Ok((checked, None)) => return Err(invalid_blueprint(checked)),
            Err(error) if error.code == Code::AutomationNotFound => match self.of_run(query)? {
                Some(found) => found,
                None => {
                    let message =
                        format!("no file, no automation of the library and no run is `{query}`");
                    return Err(HostError::new(Code::AutomationNotFound, message).hint(
                        "`wardian automation list` shows the library, `wardian run list` the runs",
                    ));
                }
            },
            Err(error) => return Err(error),
        };
        let hash = program.hash().to_string();
        Ok((Side { label, blueprint_id: program.id().to_string(), hash }, program))
    }

    /// The graph that a run keeps; `None` when there is no such run.
    fn of_run(&self, query: &str) -> Result<Option<(String, Arc<Program>)>, HostError> {
        let place = match self.find(query) {
            Ok(place) => place,
            Err(error) if matches!(error.code, Code::RunNotFound | Code::InvalidId) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let run = place.run.to_string();
        match self.program_of(&place) {
            Some(program) => Ok(Some((format!("run {run}"), program))),
            None => {
                let message = format!("the graph that run {run} keeps cannot be read");
                Err(HostError::new(Code::ChangedGraph, message)
                    .hint(format!("`wardian run verify {run}` says what is wrong")))
            }
        }
    }
}
