//! `wardian run export`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use host::Host;
use host::api::{Code, ExportRequest, HostError};

use crate::args::ExportArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::exit::Exit;

pub(crate) fn run(host: &Host, console: &Console, args: &ExportArgs) -> Result<Exit, CliError> {
    if args.at.is_some_and(|at| at < args.from) {
        let message = "--at is before --from, so no event is left";
        return Err(CliError::usage(message, "let --from be the smaller one"));
    }
    let request = ExportRequest { from: args.from, at: args.at };
    let Some(path) = &args.output else {
        let mut written = Ok(());
        let exported = host.export(&args.run.run, &request, &mut |line| {
            written = console.document_line(line);
            written.is_ok()
        });
        written?;
        return Ok(exported.map(|()| Exit::Done)?);
    };
    let mut file = Output { path, file: None };
    let mut written = Ok(());
    let exported = host.export(&args.run.run, &request, &mut |line| {
        written = file.line(line);
        written.is_ok()
    });
    let finished = written.and_then(|()| file.finish());
    exported?;
    finished.map_err(|error| cannot_write(path, &error))?;
    Ok(Exit::Done)
}

/// A file that comes to be with its first line, so that a run that cannot be
/// exported leaves none.
struct Output<'a> {
    path: &'a Path,
    file: Option<BufWriter<File>>,
}

impl Output<'_> {
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::new(File::create_new(self.path)?)),
        };
        file.write_all(line)?;
        file.write_all(b"\n")
    }

    fn finish(&mut self) -> io::Result<()> {
        match &mut self.file {
            Some(file) => {
                file.flush()?;
                file.get_ref().sync_all()
            }
            None => Ok(()),
        }
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> HostError {
    let exists = error.kind() == io::ErrorKind::AlreadyExists;
    let code = if exists { Code::Conflict } else { Code::Internal };
    HostError::new(code, format!("{} cannot be written: {error}", path.display()))
        .hint("name a new file with --output, or leave it out for standard output")
}
