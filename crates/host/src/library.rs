//! The automations of a home, `library/automations/**.md`, and the files
//! that a person names instead of one.

use std::path::{Path, PathBuf};

use blueprint::{Checked, Program, check, check_library};
use durable::disk::Kind;
use durable::limits;
use serde_json::json;

use crate::Host;
use crate::api::{AutomationRow, CheckedSource, Code, HostError, Severity, Source};

/// Files looked at in one library, and how deep folders may nest.
const FILES_MAX: usize = 5000;
const FOLDERS_DEEP: usize = 16;

impl Host {
    /// Reads and checks an automation, named by file or by id. Findings are
    /// an answer, not an error.
    pub fn check_source(&self, automation: &str) -> Result<CheckedSource, HostError> {
        self.checked(automation).map(|(checked, _)| checked)
    }

    /// The automations of the library, sorted by path.
    pub fn automations(&self) -> Result<Vec<AutomationRow>, HostError> {
        let mut files = Vec::new();
        for path in self.library_files()? {
            let bytes = self.read_blueprint(&path)?;
            files.push((path.display().to_string(), path, check(&bytes)));
        }
        let labelled: Vec<(String, &Checked)> =
            files.iter().map(|(label, _, checked)| (label.clone(), checked)).collect();
        let doubles = check_library(&labelled);
        let row = |(at, (_, path, checked)): (usize, &(String, PathBuf, Checked))| {
            let own = checked.findings.iter().filter(|f| f.severity == Severity::Error);
            let double = doubles.iter().filter(|(file, _)| *file == at).map(|(_, finding)| finding);
            AutomationRow {
                blueprint_id: checked.id.clone(),
                name: checked.name.clone(),
                path: path.clone(),
                error: own.chain(double).next().map(ToString::to_string),
            }
        };
        Ok(files.iter().enumerate().map(row).collect())
    }

    /// The same, with the program when it can run.
    pub(crate) fn checked(
        &self,
        automation: &str,
    ) -> Result<(CheckedSource, Option<Program>), HostError> {
        self.source(automation).map(checked_source)
    }

    /// The file that is meant, unread by anybody.
    pub(crate) fn source(&self, automation: &str) -> Result<Source, HostError> {
        let path = self.resolve(automation)?;
        let bytes = self.read_blueprint(&path)?;
        Ok(Source { path, bytes })
    }

    pub(crate) fn resolve(&self, automation: &str) -> Result<PathBuf, HostError> {
        let path = self.config.current_dir.join(automation);
        if path.is_file() {
            return Ok(path);
        }
        if path.is_dir() {
            let message = format!("{} is a folder, not an automation", path.display());
            return Err(HostError::new(Code::InvalidRequest, message)
                .hint("name a Markdown file, such as one of this folder"));
        }
        let looks_like_path = automation.contains('/') || automation.ends_with(".md");
        if looks_like_path {
            let message = format!("there is no file {}", path.display());
            return Err(HostError::new(Code::FileNotFound, message)
                .hint("`wardian automation list` shows the automations of the library"));
        }
        self.in_library(automation)
    }

    /// The blueprints of one folder, by their ids.
    pub(crate) fn blueprints_in(
        &self,
        folder: &Path,
    ) -> Result<std::collections::BTreeMap<String, PathBuf>, HostError> {
        let names = self.list_folder(folder)?;
        let files = names.iter().filter(|name| name.ends_with(".md")).take(FILES_MAX);
        let mut found = std::collections::BTreeMap::new();
        for path in files.map(|name| folder.join(name)).filter(|path| path.is_file()) {
            if let Some(id) = check(&self.read_blueprint(&path)?).id {
                found.entry(id).or_insert(path);
            }
        }
        Ok(found)
    }

    /// The one file of the library that has this id.
    pub(crate) fn in_library(&self, automation: &str) -> Result<PathBuf, HostError> {
        let mut found = Vec::new();
        for file in self.library_files()? {
            if check(&self.read_blueprint(&file)?).id.as_deref() == Some(automation) {
                found.push(file);
            }
        }
        match &found[..] {
            [one] => Ok(one.clone()),
            [] => {
                let message =
                    format!("no file and no automation of the library is called `{automation}`");
                Err(HostError::new(Code::AutomationNotFound, message)
                    .hint("`wardian automation list` shows the automations of the library"))
            }
            many => {
                let paths: Vec<String> =
                    many.iter().map(|path| path.display().to_string()).collect();
                let message = format!(
                    "`{automation}` is the id of {} files: {}",
                    many.len(),
                    paths.join(", ")
                );
                Err(HostError::new(Code::AmbiguousAutomation, message)
                    .hint("name the file, or give each its own id")
                    .details(json!({ "paths": paths })))
            }
        }
    }

    /// The Markdown files of the library. Links are not followed, so that
    /// none can lead in a circle.
    pub(crate) fn library_files(&self) -> Result<Vec<PathBuf>, HostError> {
        let mut files = Vec::new();
        let mut folders = vec![(self.home.path().join("library").join("automations"), 0)];
        while let Some((folder, depth)) = folders.pop() {
            for name in self.list_folder(&folder)? {
                let path = folder.join(&name);
                match self.disk.stat(&path).map_err(|fault| store(&fault))?.map(|stat| stat.kind) {
                    Some(Kind::Folder) if depth < FOLDERS_DEEP => folders.push((path, depth + 1)),
                    Some(Kind::File) if name.ends_with(".md") => files.push(path),
                    Some(Kind::Folder | Kind::File | Kind::Other) | None => {}
                }
                if files.len() > FILES_MAX {
                    let message = format!("the library has more than {FILES_MAX} files");
                    return Err(HostError::new(Code::Store, message));
                }
            }
        }
        files.sort();
        Ok(files)
    }

    fn list_folder(&self, folder: &Path) -> Result<Vec<String>, HostError> {
        match self.disk.stat(folder).map_err(|fault| store(&fault))? {
            Some(_) => self.disk.list(folder).map_err(|fault| store(&fault)),
            None => Ok(Vec::new()),
        }
    }

    /// One byte more than a blueprint may have, so that the check can say so.
    pub(crate) fn read_blueprint(&self, path: &Path) -> Result<Vec<u8>, HostError> {
        let limit = limits::BLUEPRINT_BYTES as u64 + 1;
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.disk.read_from(&real, 0, limit).map_err(|fault| {
            HostError::from_fault(Code::FileNotFound, "the automation cannot be read", &fault)
        })
    }
}

/// What the file says, with the program when it can run.
pub(crate) fn checked_source(source: Source) -> (CheckedSource, Option<Program>) {
    let Checked { id, name, findings, omitted, program, .. } = check(&source.bytes);
    let ok = program.is_some();
    (CheckedSource { source, blueprint_id: id, name, findings, omitted, ok }, program)
}

pub(crate) fn store(fault: &dyn std::error::Error) -> HostError {
    HostError::from_fault(Code::Store, "the home cannot be used", fault)
        .hint("`wardian doctor` looks at the home and says what is wrong")
}
