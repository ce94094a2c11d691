//! An author's tools over files: the layout, the findings with their fixes, a
//! new file. Whatever is written replaces a whole file in one step, or makes
//! one where none was.

mod compare;
mod first;
mod new;
mod replace;
mod templates;

use std::path::{Path, PathBuf};

use blueprint::{Checked, FormatError, check_library, fix, format, lint};

use crate::Host;
use crate::api::authoring::{FormatReport, Formatted, Linted};
use crate::api::{CheckedSource, Code, HostError, Severity, Source};

impl Host {
    /// Lays out an automation, named by file or id. Nothing is written.
    pub fn format(&self, automation: &str) -> Result<FormatReport, HostError> {
        let path = self.resolve(automation)?;
        let bytes = self.read_blueprint(&path)?;
        let outcome = match format(&bytes) {
            Ok(new) => Formatted::Done(new),
            Err(FormatError::Unreadable(findings)) => {
                let source = Source { path: path.clone(), bytes: bytes.clone() };
                Formatted::Refused(Box::new(CheckedSource {
                    source,
                    blueprint_id: None,
                    name: None,
                    findings,
                    omitted: 0,
                    ok: false,
                }))
            }
            Err(fault @ FormatError::Odd { .. }) => {
                let message = format!("{} stays as it is: {fault}", path.display());
                return Err(HostError::new(Code::InvalidBlueprint, message)
                    .hint("write that place in the usual way, then format again"));
            }
            Err(fault @ FormatError::Changed(_)) => {
                let message = format!("{} stays as it is: {fault}", path.display());
                return Err(HostError::new(Code::Internal, message)
                    .hint("please report the file; nothing was written"));
            }
        };
        Ok(FormatReport { source: Source { path, bytes }, outcome })
    }

    /// Puts a new layout into its file, unless the file has changed since.
    pub fn write_format(&self, report: &FormatReport) -> Result<(), HostError> {
        match &report.outcome {
            Formatted::Done(new) => self.replace(&report.source.path, &report.source.bytes, new),
            Formatted::Refused(_) => Ok(()),
        }
    }

    /// Judges automations and their style; all of the library when none is
    /// named. With `mend` their safe fixes are made first.
    pub fn lint(&self, automations: &[String], mend: bool) -> Result<Vec<Linted>, HostError> {
        let whole_library = automations.is_empty();
        let paths: Vec<PathBuf> = if whole_library {
            self.library_files()?
        } else {
            automations.iter().map(|name| self.resolve(name)).collect::<Result<_, _>>()?
        };
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            files.push(self.lint_file(path, mend)?);
        }
        if whole_library {
            add_doubles(&mut files);
        }
        Ok(files.into_iter().map(|(source, checked, done)| linted(source, checked, done)).collect())
    }

    fn lint_file(&self, path: PathBuf, mend: bool) -> Result<File, HostError> {
        let bytes = self.read_blueprint(&path)?;
        if !mend {
            let checked = lint(&bytes);
            return Ok((Source { path, bytes }, checked, Vec::new()));
        }
        let fixed = fix(&bytes);
        if !fixed.done.is_empty() {
            self.replace(&path, &bytes, &fixed.bytes)?;
        }
        Ok((Source { path, bytes: fixed.bytes }, fixed.checked, fixed.done))
    }
}

type File = (Source, Checked, Vec<blueprint::fix::Done>);

/// Findings about several files of the library, each among those of its file.
fn add_doubles(files: &mut [File]) {
    let label = |path: &Path| path.display().to_string();
    let labelled: Vec<(String, &Checked)> =
        files.iter().map(|(source, checked, _)| (label(&source.path), checked)).collect();
    for (at, finding) in check_library(&labelled) {
        let checked = &mut files[at].1;
        let place = checked.findings.partition_point(|f| f.span.start <= finding.span.start);
        checked.findings.insert(place, finding);
    }
}

fn linted(source: Source, checked: Checked, done: Vec<blueprint::fix::Done>) -> Linted {
    let Checked { id, name, findings, omitted, program, .. } = checked;
    let ok = program.is_some() && findings.iter().all(|f| f.severity != Severity::Error);
    Linted {
        checked: CheckedSource { source, blueprint_id: id, name, findings, omitted, ok },
        done,
    }
}
