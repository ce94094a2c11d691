//! One record for each account that met its limit, so that other runs of it
//! wait as well. It is made by whoever meets the limit, and goes with the
//! first answer to a question that was asked after it.

use durable::Timestamp;
use durable::sqlite::Migrations;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::block::Block;
use super::{Registry, RegistryError};
use crate::agent::Account;
use durable::Span;

pub(super) const ACCOUNTS: Migrations = Migrations { set: "accounts", steps: &[TABLE] };

const TABLE: &str = "
create table provider_accounts (
    account text primary key,
    provider text not null,
    label text not null,
    since integer not null,
    blocked_until integer not null,
    reset_known integer not null check (reset_known in (0, 1)),
    backoffs integer not null
) strict, without rowid;
";

const FIND: &str = "\
    select since, blocked_until, reset_known, backoffs from provider_accounts where account = ?1";

const PUT: &str = "\
    insert into provider_accounts \
    (account, provider, label, since, blocked_until, reset_known, backoffs) \
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict (account) do update set \
    label = excluded.label, since = excluded.since, blocked_until = excluded.blocked_until, \
    reset_known = excluded.reset_known, backoffs = excluded.backoffs";

/// An answer to a question of before the block says nothing of it.
const CLEAR: &str = "delete from provider_accounts where account = ?1 and since <= ?2";

/// The accounts of the providers that a run has attempts of.
const LIFT: &str = "\
    update provider_accounts set blocked_until = ?3 where blocked_until > ?3 and provider in \
    (select provider from temporary_workers where run_id = ?1 and blueprint_id = ?2)";

const LIST: &str = "\
    select since, blocked_until, reset_known, backoffs, account, provider, label \
    from provider_accounts order by provider, label, account";

#[cfg(test)]
pub(super) const ALL: [&str; 5] = [FIND, PUT, CLEAR, LIFT, LIST];

impl Registry {
    /// What the book says of an account; nothing while its limit was not met.
    pub fn block(&self, account: &Account) -> Result<Option<Block>, RegistryError> {
        let found = find(self.database.connection(), &account.id);
        found.map_err(|source| self.fault(source))
    }

    /// The account, asked at `asked_at`, met its limit.
    pub fn limit_met(
        &self,
        account: &Account,
        asked_at: Timestamp,
        reset: Option<Span>,
        now: Timestamp,
    ) -> Result<Block, RegistryError> {
        let write = || -> rusqlite::Result<Block> {
            let connection = self.database.connection();
            let transaction =
                Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
            let before = find(&transaction, &account.id)?;
            let block = Block::met(before.as_ref(), asked_at, reset, now);
            if before.as_ref() != Some(&block) {
                let Block { since, until, reset_known, backoffs } = &block;
                let Account { id, provider, label } = account;
                let (since, until) = (since.millis(), until.millis());
                transaction.execute(
                    PUT,
                    params![id, provider, label, since, until, reset_known, backoffs],
                )?;
            }
            transaction.commit()?;
            Ok(block)
        };
        write().map_err(|source| self.fault(source))
    }

    /// The account, asked at `asked_at`, answered: says whether that ended
    /// what the book had of it.
    pub fn answered(&self, account: &Account, asked_at: Timestamp) -> Result<bool, RegistryError> {
        self.write(CLEAR, params![account.id, asked_at.millis()])
    }

    /// A person wants this run to look again: the accounts of its providers
    /// may be asked from now on.
    pub fn lift(&self, blueprint: &str, run: &str, now: Timestamp) -> Result<bool, RegistryError> {
        self.write(LIFT, params![run, blueprint, now.millis()])
    }

    /// Every account that has met its limit and not answered since.
    pub fn accounts(&self) -> Result<Vec<(Account, Block)>, RegistryError> {
        if !self.database.has(&ACCOUNTS)? {
            return Ok(Vec::new());
        }
        let account = |row: &Row<'_>| {
            let account = Account { id: row.get(4)?, provider: row.get(5)?, label: row.get(6)? };
            Ok((account, block(row)?))
        };
        let read = || -> rusqlite::Result<Vec<(Account, Block)>> {
            let mut statement = self.database.connection().prepare(LIST)?;
            statement.query_map([], account)?.collect()
        };
        read().map_err(|source| self.fault(source))
    }
}

fn find(connection: &Connection, account: &str) -> rusqlite::Result<Option<Block>> {
    connection.query_row(FIND, [account], block).optional()
}

fn block(row: &Row<'_>) -> rusqlite::Result<Block> {
    let instant = |at: usize| row.get::<_, i64>(at).map(Timestamp::from_millis);
    let (since, until) = (instant(0)?, instant(1)?);
    Ok(Block { since, until, reset_known: row.get(2)?, backoffs: row.get(3)? })
}
