//! A new blueprint file: a template under the author's id and name. It never
//! takes the place of anything.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use blueprint::{BlueprintId, check};

use super::templates::{self, Template};
use crate::Host;
use crate::api::authoring::{NewAutomation, NewRequest};
use crate::api::{CheckedSource, Code, HostError, Source};
use crate::launch::invalid_blueprint;

impl Host {
    /// Writes a file that is ready to be changed, and to be run as it is.
    pub fn new_automation(&self, request: &NewRequest) -> Result<NewAutomation, HostError> {
        let template = templates::find(&request.template)?;
        let name = request.name.clone().unwrap_or_else(|| name_of(&request.id));
        let bytes = template.fill(&request.id, &name).into_bytes();
        let path = self.write_new(&request.id, request.file.as_deref(), bytes)?;
        let Template { input, agent, .. } = template;
        Ok(NewAutomation { id: request.id.clone(), path, name, input: *input, needs_agent: *agent })
    }

    /// Writes a new automation into this file, or into the library.
    pub(super) fn write_new(
        &self,
        id: &str,
        file: Option<&Path>,
        bytes: Vec<u8>,
    ) -> Result<PathBuf, HostError> {
        BlueprintId::new(id).map_err(|fault| {
            let message = format!("`{id}` cannot be the id of an automation: {fault}");
            HostError::new(Code::InvalidId, message)
                .hint("use letters, digits, `.`, `_` and `-`, and begin with a letter or digit")
        })?;
        let path = match file {
            Some(file) => self.config.current_dir.join(file),
            None => self.library_place(id)?,
        };
        let checked = check(&bytes);
        if checked.program.is_none() {
            return Err(invalid_blueprint(CheckedSource {
                source: Source { path, bytes },
                blueprint_id: checked.id,
                name: checked.name,
                findings: checked.findings,
                omitted: checked.omitted,
                ok: false,
            }));
        }
        create(&path, &bytes, file.is_none())?;
        Ok(path)
    }

    /// Where the library keeps a new automation with this id.
    fn library_place(&self, id: &str) -> Result<PathBuf, HostError> {
        let path = self.home().join("library").join("automations").join(format!("{id}.md"));
        for file in self.library_files()? {
            let taken =
                file == path || check(&self.read_blueprint(&file)?).id.as_deref() == Some(id);
            if taken {
                return Err(exists(&file, &format!("the library has `{id}` already")));
            }
        }
        Ok(path)
    }
}

fn create(path: &Path, bytes: &[u8], with_folders: bool) -> Result<(), HostError> {
    let fail = |fault: &std::io::Error| {
        if fault.kind() == ErrorKind::AlreadyExists {
            return exists(path, &format!("{} exists", path.display()));
        }
        let (what, missing) = (format!("{} cannot be made", path.display()), ErrorKind::NotFound);
        let hint = if fault.kind() == missing {
            "make its folder first"
        } else {
            "name another place with --file"
        };
        HostError::from_fault(Code::Store, &what, fault).hint(hint)
    };
    if let Some(folder) = path.parent().filter(|_| with_folders) {
        fs::create_dir_all(folder).map_err(|fault| fail(&fault))?;
    }
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = file.map_err(|fault| fail(&fault))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|fault| {
        drop(fs::remove_file(path));
        fail(&fault)
    })
}

fn exists(path: &Path, message: &str) -> HostError {
    HostError::new(Code::Conflict, message)
        .hint(format!("look at {}, or choose another id or place", path.display()))
}

/// `nightly-report` is called "Nightly report".
pub(super) fn name_of(id: &str) -> String {
    let words = id.replace(['-', '_', '.'], " ");
    let mut letters = words.trim().chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_the_id() {
        assert_eq!(name_of("nightly-report_2.0"), "Nightly report 2 0");
        assert_eq!(name_of("x"), "X");
    }
}
