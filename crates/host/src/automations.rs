//! The other blueprints that a blueprint runs, and those that these run:
//! found, checked and kept with the run when it starts, so that nothing of
//! the library is read again while it works.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use blueprint::{BlueprintId, Program};
use durable::{Digest, limits};
use runstore::{Automation, RunPlace};

use crate::Host;
use crate::api::{Code, HostError};
use crate::launch::{invalid_blueprint, script_files};
use crate::library::store;

/// All that a run may run, as its folder keeps it.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// By id, for `invocation.json`.
    pub named: BTreeMap<String, Automation>,
    /// The snapshots, by the same ids.
    pub snapshots: Vec<(String, Vec<u8>)>,
}

/// What the search for further blueprints goes by.
struct Search<'a> {
    host: &'a Host,
    workspace: &'a Path,
    /// Blueprints that lie beside others, by the folder and their id.
    beside: BTreeMap<PathBuf, BTreeMap<String, PathBuf>>,
    kept: Kept,
}

impl Host {
    /// Finds what the program runs: by id, beside the file that names it,
    /// then in the library.
    pub(crate) fn automations_of(
        &self,
        program: &Program,
        file: &Path,
        workspace: &Path,
    ) -> Result<Kept, HostError> {
        let kept = Kept::default();
        let mut search = Search { host: self, workspace, beside: BTreeMap::new(), kept };
        search.follow(program, file, &mut vec![program.id().clone()])?;
        Ok(search.kept)
    }

    /// The same from a run that has kept them.
    pub(crate) fn automations_kept(
        &self,
        place: &RunPlace,
        named: &BTreeMap<String, Automation>,
    ) -> Result<Vec<(String, Vec<u8>)>, HostError> {
        let read = |(id, pinned): (&String, &Automation)| {
            let name = BlueprintId::new(id).map_err(|fault| store(&fault))?;
            let path = place.automation_json(&name);
            let most = 8 * limits::BLUEPRINT_BYTES as u64;
            let bytes = self.disk.read(&path, most).map_err(|fault| store(&fault))?;
            if Digest::of(&bytes) == pinned.digest {
                return Ok((id.clone(), bytes));
            }
            let message = format!("{} is not what the run started with", path.display());
            Err(HostError::new(Code::ChangedGraph, message)
                .hint("restore the run's folder from a backup"))
        };
        named.iter().map(read).collect()
    }
}

impl Search<'_> {
    /// `path` holds the blueprints that lead to this one, itself included.
    fn follow(
        &mut self,
        program: &Program,
        file: &Path,
        path: &mut Vec<BlueprintId>,
    ) -> Result<(), HostError> {
        for (node, id) in program.automations() {
            let shown = || {
                let ids = path.iter().chain([id]).map(BlueprintId::as_str);
                ids.collect::<Vec<_>>().join(" → ")
            };
            let refuse = |message: String, hint: &str| {
                Err(HostError::new(Code::InvalidBlueprint, message).hint(hint))
            };
            if path.contains(id) {
                let message = format!("these automations run each other in a circle: {}", shown());
                return refuse(message, "let a `loop` repeat the work instead");
            }
            if path.len() >= limits::AUTOMATIONS_DEEP {
                let most = limits::AUTOMATIONS_DEEP;
                let message =
                    format!("automations run each other more than {most} deep: {}", shown());
                return refuse(message, "put some of them into one blueprint");
            }
            let found = self.find(id, file).map_err(|fault| {
                let message =
                    format!("node `{}` of `{}`: {}", node.id, program.id(), fault.message);
                HostError { message, ..fault }
            })?;
            let (checked, other) = self.host.checked(&found.display().to_string())?;
            let Some(other) = other else { return Err(invalid_blueprint(checked)) };
            path.push(id.clone());
            self.keep(&other, &found)?;
            self.follow(&other, &found, path)?;
            path.pop();
        }
        Ok(())
    }

    fn keep(&mut self, program: &Program, file: &Path) -> Result<(), HostError> {
        let id = program.id().to_string();
        if self.kept.named.contains_key(&id) {
            return Ok(());
        }
        let bytes = program.snapshot();
        let scripts = script_files(program, self.workspace, file)?;
        let automation = Automation { digest: Digest::of(&bytes), scripts };
        self.kept.named.insert(id.clone(), automation);
        self.kept.snapshots.push((id, bytes));
        Ok(())
    }

    fn find(&mut self, id: &BlueprintId, from: &Path) -> Result<PathBuf, HostError> {
        let folder = from.parent().unwrap_or(Path::new("."));
        if !self.beside.contains_key(folder) {
            let files = self.host.blueprints_in(folder)?;
            self.beside.insert(folder.to_owned(), files);
        }
        match self.beside.get(folder).and_then(|files| files.get(id.as_str())) {
            Some(file) => Ok(file.clone()),
            None => self.host.in_library(id.as_str()),
        }
    }
}
