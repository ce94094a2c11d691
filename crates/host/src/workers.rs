//! Looking into the book of attempts: with nobody running, and without
//! writing. An attempt that the book has under way, and whose run has no
//! owner any more, is shown as what its next owner will write: unknown.

use providers::attempts::{Filter, Found, Mark, Page, Registry, RegistryError, State, Worker};
use serde_json::json;

use crate::Host;
use crate::api::{
    Code, DoctorLine, DoctorVerdict, HostError, WorkerRow, WorkersPage, WorkersQuery,
};
use crate::attempts::book_of;

/// Attempts that are read at a time.
const PAGE: usize = 200;

/// The longest beginning of an id that is shown to its asker.
const SHOWN: usize = 40;

impl Host {
    /// The attempts that are asked for, the latest first.
    pub fn workers(&self, query: &WorkersQuery) -> Result<WorkersPage, HostError> {
        let mut page = WorkersPage::default();
        let known = query.run.as_deref().map(|run| self.find(run));
        let run = match &known {
            Some(Ok(place)) => Some(place.run.to_string()),
            // The book may know of runs that were removed.
            Some(Err(fault)) if fault.code == Code::RunNotFound => query.run.clone(),
            None => None,
            Some(Err(_)) => return Err(known.and_then(Result::err).expect("it is an error")),
        };
        let Some(book) = self.book()? else {
            return known.transpose().map(|_| page);
        };
        let filter = Filter { run, states: recorded(query.state) };
        let mut after = None;
        loop {
            let rows = book.list(&filter, &Page { limit: PAGE, after }).map_err(|f| fault(&f))?;
            let is_last = rows.len() < PAGE;
            after = rows.last().map(Mark::of);
            for worker in rows {
                let row = self.worker_row(worker)?;
                if query.state.is_some_and(|state| state != row.state()) {
                    continue;
                }
                if page.rows.len() == query.limit {
                    page.more = true;
                    return Ok(page);
                }
                page.rows.push(row);
            }
            if is_last {
                break;
            }
        }
        match known {
            Some(Err(not_found)) if page.rows.is_empty() => Err(not_found),
            Some(_) | None => Ok(page),
        }
    }

    /// The attempt whose id begins so.
    pub fn worker(&self, beginning: &str) -> Result<WorkerRow, HostError> {
        let list = "`wardian workers list` shows the attempts of this home";
        let found = match self.book()? {
            Some(book) => book.show(beginning).map_err(|f| fault(&f))?,
            None => Found::None,
        };
        let shown: String = beginning.chars().take(SHOWN).collect();
        match found {
            Found::One(worker) => self.worker_row(*worker),
            Found::None => {
                let message = format!("no attempt begins with `{shown}`");
                Err(HostError::new(Code::WorkerNotFound, message).hint(list))
            }
            Found::Many(ids) => {
                let message =
                    format!("`{shown}` is the beginning of several attempts: {}", ids.join(", "));
                Err(HostError::new(Code::AmbiguousWorker, message)
                    .hint("type more of the id")
                    .details(json!({ "workers": ids })))
            }
        }
    }

    /// Nothing where no agent was ever asked.
    pub(crate) fn attempts_line(&self) -> Option<DoctorLine> {
        let name = "attempts".to_owned();
        match self.workers(&WorkersQuery { run: None, state: None, limit: PAGE }) {
            Ok(page) if page.rows.is_empty() => None,
            Ok(page) => {
                let active = page.rows.iter().filter(|row| row.state().is_active()).count();
                let detail = format!("state.db can be read; {active} under way");
                Some(DoctorLine { name, verdict: DoctorVerdict::Pass, detail, fix: None })
            }
            Err(HostError { message, hint, .. }) => {
                let verdict = DoctorVerdict::Fail;
                Some(DoctorLine { name, verdict, detail: message, fix: hint })
            }
        }
    }

    pub(crate) fn book(&self) -> Result<Option<Registry>, HostError> {
        Registry::read(&book_of(self.home.path())).map_err(|f| fault(&f))
    }

    fn worker_row(&self, worker: Worker) -> Result<WorkerRow, HostError> {
        // A run that waits needs no owner.
        let needs_owner = worker.state.is_active() && worker.state != State::Waiting;
        let owner_lost = needs_owner && !self.has_owner(&worker)?;
        Ok(WorkerRow { worker, owner_lost })
    }

    fn has_owner(&self, worker: &Worker) -> Result<bool, HostError> {
        let blueprint = blueprint::BlueprintId::new(&worker.blueprint);
        let run = engine::RunId::new(&worker.run);
        match blueprint.ok().zip(run.ok()) {
            Some((blueprint, run)) => self.is_owned(&self.home.place(&blueprint, &run)),
            None => Ok(false),
        }
    }
}

/// What the book may say of attempts that are shown in this state.
fn recorded(shown: Option<State>) -> Vec<State> {
    match shown {
        Some(State::Unknown) => {
            State::ALL.iter().copied().filter(|s| s.is_active() || *s == State::Unknown).collect()
        }
        Some(state) => vec![state],
        None => Vec::new(),
    }
}

pub(crate) fn fault(fault: &RegistryError) -> HostError {
    HostError::from_fault(Code::Store, "the book of attempts cannot be read", fault)
        .hint("no run needs it: move state.db, state.db-wal and state.db-shm of the home away")
}
