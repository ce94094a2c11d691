//! A run as lines that another program can keep: what it is, its events just
//! as the log has them, and what they come to. The same run gives the same
//! bytes whenever it is asked for.

use std::ops::ControlFlow;

use engine::{Fact, RunState, fold};
use runstore::{OpenError, RunPlace, artifacts};

use crate::Host;
use crate::api::json::export::{ExportEnd, ExportHead, lines};
use crate::api::{Code, ExportRequest, FailReason, HostError};
use crate::library::store;
use crate::reading::{open_fault, state_digest};

impl Host {
    /// Gives the lines to the sink until it has had enough. A log that is
    /// torn or damaged is given as far as it is good; its last line says so,
    /// and so does the error.
    pub fn export(
        &self,
        query: &str,
        request: &ExportRequest,
        sink: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), HostError> {
        let place = self.find(query)?;
        self.refuse_no_event(&place, request)?;
        if !sink(&lines::head(&self.head(&place, request))) {
            return Ok(());
        }
        let mut shown = Shown::new(&place, request);
        let walked = runstore::read::each_line(&*self.disk, &place, |seq, line| {
            shown.line(seq.0, line, sink)
        });
        if shown.reader_gone {
            return Ok(());
        }
        let damage = match (shown.fault.take(), walked) {
            (Some(fault), _) => Some(open_fault(&fault).message),
            (None, Err(fault)) => Some(open_fault(&fault).message),
            // A live owner may be in the middle of a write.
            (None, Ok(Some(torn))) if !self.is_owned(&place)? => Some(format!(
                "a write was cut short ({}): {} bytes behind byte {} are no event",
                torn.why, torn.dropped, torn.keep
            )),
            (None, Ok(_)) => None,
        };
        let artifacts = match request.at {
            // Which of them came later nothing tells.
            Some(_) => None,
            None => Some(artifacts::list(&*self.disk, &place).map_err(|fault| store(&fault))?),
        };
        let end = ExportEnd {
            run_id: place.run.as_str(),
            events: shown.state.next_seq.0,
            status: shown.state.status(),
            reason: shown.reason(),
            state_digest: state_digest(&shown.state),
            artifacts: artifacts.map(|all| all.iter().map(ToString::to_string).collect()),
            damage: damage.as_deref(),
        };
        sink(&lines::end(&end));
        match damage {
            None => Ok(()),
            Some(damage) => {
                let message =
                    format!("run {} is exported as far as it is good: {damage}", place.run);
                Err(HostError::new(Code::DamagedLog, message)
                    .hint(format!("`wardian run verify {}` says how far that is", place.run)))
            }
        }
    }

    /// An event that is asked for must be there. A damaged log tells later.
    fn refuse_no_event(&self, place: &RunPlace, request: &ExportRequest) -> Result<(), HostError> {
        let Some(at) = request.at else { return Ok(()) };
        match runstore::read::last_seq(&*self.disk, place) {
            Ok(last) if last.is_none_or(|last| last.0 < at) => {
                let message = format!("run {} has no event {at}", place.run);
                Err(HostError::new(Code::InvalidRequest, message)
                    .hint(format!("`wardian run events {}` lists them", place.run)))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn head<'a>(&self, place: &'a RunPlace, request: &ExportRequest) -> ExportHead<'a> {
        let mut head = ExportHead {
            run_id: place.run.as_str(),
            blueprint_id: place.blueprint.as_str(),
            blueprint_hash: None,
            blueprint_digest: None,
            invocation_digest: None,
            format: None,
            from: request.from,
            at: request.at,
        };
        // Where the first line cannot be read, the last one will say so.
        drop(runstore::read::each(&*self.disk, place, |event| {
            if let Fact::RunStarted(started) = event.fact {
                let text =
                    |digest: Option<durable::Digest>| digest.map(|digest| digest.to_string());
                head.blueprint_hash = text(started.blueprint_hash);
                head.blueprint_digest = text(started.blueprint_digest);
                head.invocation_digest = text(started.invocation_digest);
                head.format = Some(started.format);
            }
            ControlFlow::Break(())
        }));
        head
    }
}

/// The events so far.
struct Shown<'a> {
    place: &'a RunPlace,
    request: &'a ExportRequest,
    state: RunState,
    fault: Option<OpenError>,
    reader_gone: bool,
}

impl<'a> Shown<'a> {
    fn new(place: &'a RunPlace, request: &'a ExportRequest) -> Self {
        Self { place, request, state: RunState::fresh(), fault: None, reader_gone: false }
    }

    fn line(
        &mut self,
        seq: u64,
        line: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> bool,
    ) -> ControlFlow<()> {
        if self.request.at.is_some_and(|at| seq > at) {
            return ControlFlow::Break(());
        }
        if let Err(fault) = self.fold(seq, line) {
            self.fault = Some(fault);
            return ControlFlow::Break(());
        }
        if seq >= self.request.from && !sink(line) {
            self.reader_gone = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn reason(&self) -> Option<FailReason> {
        let failure = self.state.closed.as_ref()?.failure.as_ref()?;
        Some(failure.reason)
    }

    fn fold(&mut self, seq: u64, line: &[u8]) -> Result<(), OpenError> {
        let (path, number) = (self.place.events(), seq.saturating_add(1));
        let format = self.state.started.as_ref().map(|started| started.format);
        let event = runstore::line::decode(line, format).map_err(|source| OpenError::Line {
            path: path.clone(),
            line: number,
            source,
        })?;
        fold(&mut self.state, &event).map_err(|source| OpenError::Illegal {
            path,
            line: number,
            source,
        })
    }
}
