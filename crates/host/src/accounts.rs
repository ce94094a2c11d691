//! The limits of accounts, as a worker meets and keeps them: an account of
//! which the book says that its limit is reached is not asked, and the attempt
//! ends as if it had met that limit itself. So the run parks, and many runs
//! of one account do not all find out by asking. What cannot be read or
//! written here keeps nobody from asking.

use durable::Timestamp;
use engine::{Class, NodeError, Outcome, Usage};
use providers::agent::{Account, Fault};
use providers::attempts::Block;

use crate::Host;
use crate::api::{BlockedAccount, Code, DoctorLine, DoctorVerdict, HostError};
use crate::attempts::Attempts;
use crate::perform::Stage;

/// An account that is about to be asked.
#[derive(Debug)]
pub(crate) struct AtAccount<'a> {
    stage: &'a Stage,
    /// `None` where no book is kept.
    book: Option<&'a Attempts>,
    account: Account,
    /// A limit is waited for, unless the author switched that off.
    waits: bool,
    asked_at: Timestamp,
    /// The book has something of it.
    is_known: bool,
}

impl<'a> AtAccount<'a> {
    /// Looks whether the account may be asked now. Where the author does not
    /// want to wait for limits, it may.
    pub(crate) fn look(
        stage: &'a Stage,
        node: &str,
        account: Account,
        waits: bool,
    ) -> Result<Self, Outcome> {
        let (book, asked_at) = (stage.attempts.as_ref(), stage.host.clock.now());
        let found = book.map(|book| book.with(|book| book.block(&account)));
        let block = match found.transpose() {
            Ok(block) => block.flatten(),
            Err(fault) => {
                let what = "the book of attempts does not say whether the account is limited";
                stage.note(&HostError::from_fault(Code::Store, what, &fault).message);
                None
            }
        };
        let rest = block.as_ref().filter(|_| waits).and_then(|block| block.rest(asked_at));
        if let (Some(rest), Some(block)) = (rest, &block) {
            let Account { provider, label, .. } = &account;
            let message = format!(
                "{node}: the limit of {provider} ({label}) is reached until {}, as another \
                 attempt found out; nothing was asked",
                block.until
            );
            let error =
                NodeError::before_effect(Class::Transient, Fault::LimitReached.code(), message);
            let limited = Outcome::Failed(NodeError { retry_after: Some(rest), ..error });
            return Err(limited.having_used(Usage { unasked: true, ..Usage::default() }));
        }
        let is_known = block.is_some();
        Ok(Self { stage, book, account, waits, asked_at, is_known })
    }

    /// What came of asking, for the other runs of the account. A limit of
    /// which nobody says when it resets is waited for as long as by them.
    pub(crate) fn told(self, outcome: &mut Outcome) {
        let Some(book) = self.book else { return };
        match outcome {
            Outcome::Replied { .. } | Outcome::Output(_) if self.is_known => {
                self.note(book.with(|book| book.answered(&self.account, self.asked_at)));
            }
            Outcome::Failed(error) if error.code == Fault::LimitReached.code() => {
                let (now, reset) = (self.stage.host.clock.now(), error.retry_after);
                let met =
                    book.with(|book| book.limit_met(&self.account, self.asked_at, reset, now));
                let block: Option<Block> = self.note(met);
                if let Some(rest) = block.filter(|_| self.waits).and_then(|block| block.rest(now)) {
                    error.retry_after = Some(rest);
                }
            }
            Outcome::Replied { .. }
            | Outcome::Output(_)
            | Outcome::Failed(_)
            | Outcome::Ended { .. }
            | Outcome::Used { .. }
            | Outcome::Proved(_)
            | Outcome::Lost { .. }
            | Outcome::Stopped => {}
        }
    }

    fn note<T>(&self, written: Result<T, providers::attempts::RegistryError>) -> Option<T> {
        written
            .inspect_err(|fault| {
                let what = "the limit of the account is not in the book of attempts";
                self.stage.note(&HostError::from_fault(Code::Store, what, fault).message);
            })
            .ok()
    }
}

impl Host {
    /// The accounts that are not asked at present, because their limit is
    /// reached.
    pub fn blocked_accounts(&self) -> Result<Vec<BlockedAccount>, HostError> {
        let Some(book) = self.book()? else { return Ok(Vec::new()) };
        let now = self.clock.now();
        let all = book.accounts().map_err(|fault| crate::workers::fault(&fault))?;
        let stands = |(_, block): &(Account, Block)| block.rest(now).is_some();
        let told = |(account, block): (Account, Block)| BlockedAccount {
            account: account.id,
            provider: account.provider,
            label: account.label,
            since: block.since,
            until: block.until,
            reset_known: block.reset_known,
            backoffs: block.backoffs,
        };
        Ok(all.into_iter().filter(stands).map(told).collect())
    }

    /// A line for each account that is not asked at present. What is wrong
    /// with the book is told elsewhere.
    pub(crate) fn account_lines(&self) -> Vec<DoctorLine> {
        let blocked = self.blocked_accounts().unwrap_or_default();
        let line = |account: BlockedAccount| DoctorLine {
            name: "limit".to_owned(),
            verdict: DoctorVerdict::Warn,
            detail: account.to_string(),
            fix: Some("its runs go on by themselves; `wardian run resume ID` tries at once".into()),
        };
        blocked.into_iter().map(line).collect()
    }

    /// Before a person's word that the run is to look again: the accounts
    /// that it asks may be asked. Where the book is out of order the run
    /// says so when it asks.
    pub(crate) fn lift_limits(&self, place: &runstore::RunPlace) {
        let path = crate::attempts::book_of(self.home.path());
        if !path.exists() {
            return;
        }
        let (blueprint, run) = (place.blueprint.as_str(), place.run.as_str());
        drop(
            providers::attempts::Registry::open(&path)
                .and_then(|book| book.lift(blueprint, run, self.clock.now())),
        );
    }
}
