//! The table of the book and every query of it, in one place, so that a test
//! can prepare them all. Instants are milliseconds since 1970.

use durable::sqlite::Migrations;

pub(super) const WORKERS: Migrations = Migrations { set: "workers", steps: &[TABLE] };

const TABLE: &str = "
create table temporary_workers (
    worker_id text primary key,
    kind text not null check (kind in ('automation', 'provider_child')),
    provider text not null,
    workspace text,
    blueprint_id text not null,
    run_id text not null,
    node_id text not null,
    round integer not null,
    attempt integer not null,
    runtime_session_id text not null,
    provider_session_id text,
    runtime_generation integer not null,
    state text not null check (state in
        ('requested', 'running', 'waiting', 'succeeded', 'failed', 'cancelled', 'unknown')),
    outcome text check (outcome in ('completed', 'provider_failed', 'cancelled_by_run')),
    capabilities_json text not null,
    coverage text not null,
    source_key text,
    requested_at integer not null,
    started_at integer,
    terminal_at integer,
    last_observed_at integer not null,
    last_follow_up_accepted_at integer,
    resumable_until integer,
    detail_retained_until integer,
    error text,
    owner_instance_id text not null,
    pid integer,
    pid_started integer,
    unique (run_id, blueprint_id, node_id, round, attempt)
) strict, without rowid;
create index workers_by_request on temporary_workers (requested_at, worker_id);
create index workers_by_detail on temporary_workers (detail_retained_until)
    where detail_retained_until is not null;
";

/// The condition of every write: the speaker still holds the attempt.
macro_rules! held {
    () => {
        " where worker_id = ?1 and owner_instance_id = ?2 and runtime_generation = ?3 \
         and state in "
    };
}

/// Those of [`super::State::is_active`].
macro_rules! active {
    () => {
        "('requested', 'running', 'waiting')"
    };
}

/// In the order in which [`super::Worker`] reads them.
macro_rules! columns {
    () => {
        "worker_id, kind, provider, workspace, blueprint_id, run_id, node_id, round, attempt, \
         runtime_session_id, provider_session_id, runtime_generation, state, outcome, \
         capabilities_json, coverage, source_key, requested_at, started_at, terminal_at, \
         last_observed_at, last_follow_up_accepted_at, resumable_until, detail_retained_until, \
         error, owner_instance_id, pid, pid_started"
    };
}

pub(super) const REGISTER: &str = "\
    insert into temporary_workers (worker_id, kind, provider, workspace, blueprint_id, run_id, \
    node_id, round, attempt, runtime_session_id, runtime_generation, state, capabilities_json, \
    coverage, source_key, requested_at, last_observed_at, owner_instance_id) \
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'requested', ?12, 'pending', ?13, ?14, \
    ?14, ?15) on conflict do nothing";

pub(super) const HOLDER: &str = "\
    select worker_id, owner_instance_id, runtime_generation from temporary_workers \
    where run_id = ?1 and blueprint_id = ?2 and node_id = ?3 and round = ?4 and attempt = ?5";

pub(super) const RUNNING: &str = concat!(
    "update temporary_workers set state = 'running', started_at = ?4, last_observed_at = ?4, \
     pid = ?5, pid_started = ?6, \
     provider_session_id = coalesce(?7, provider_session_id), \
     coverage = iif(?7 is null, coverage, 'provider_session_identified')",
    held!(),
    "('requested')"
);

pub(super) const IDENTIFIED: &str = concat!(
    "update temporary_workers set provider_session_id = ?4, last_observed_at = ?5, \
     coverage = 'provider_session_identified'",
    held!(),
    active!()
);

pub(super) const FINISH: &str = concat!(
    "update temporary_workers set state = ?4, outcome = ?5, error = ?6, \
     provider_session_id = coalesce(?7, provider_session_id), \
     coverage = coalesce(?8, iif(coalesce(?7, provider_session_id) is null, \
     'provider_session_unavailable', 'provider_session_identified')), \
     last_observed_at = ?9, terminal_at = ?10, resumable_until = ?11, \
     detail_retained_until = ?12",
    held!(),
    active!()
);

pub(super) const RECONCILE: &str = concat!(
    "update temporary_workers set state = 'unknown', coverage = 'runtime_owner_lost', \
     last_observed_at = ?4 \
     where run_id = ?1 and blueprint_id = ?2 and owner_instance_id <> ?3 and state in ",
    "('requested', 'running')"
);

pub(super) const SETTLE: &str = "\
    update temporary_workers set state = 'failed', outcome = 'provider_failed', \
    coverage = iif(provider_session_id is null, \
    'provider_session_unavailable', 'provider_session_identified'), \
    last_observed_at = ?4, terminal_at = ?4, resumable_until = ?5, detail_retained_until = ?6 \
    where run_id = ?1 and blueprint_id = ?2 and (?3 is null or node_id = ?3) \
    and state = 'waiting'";

pub(super) const FOLLOWED_UP: &str = "\
    update temporary_workers set last_follow_up_accepted_at = ?2, last_observed_at = ?2, \
    resumable_until = ?3, detail_retained_until = ?4 \
    where worker_id = ?1 and resumable_until >= ?2";

pub(super) const PRUNE: &str = "\
    update temporary_workers set workspace = null, provider_session_id = null, source_key = null, \
    error = null, capabilities_json = '{}', coverage = 'detail_retention_expired', \
    resumable_until = null, detail_retained_until = null, pid = null, pid_started = null \
    where detail_retained_until < ?1 and state in ('succeeded', 'failed', 'cancelled')";

pub(super) const LIST: &str = concat!(
    "select ",
    columns!(),
    " from temporary_workers where (?1 is null or run_id = ?1) \
     and (?2 is null or instr(?2, ',' || state || ',') > 0) \
     and (?3 is null or (requested_at, worker_id) < (?3, ?4)) \
     order by requested_at desc, worker_id desc limit ?5"
);

pub(super) const SHOW: &str = concat!(
    "select ",
    columns!(),
    " from temporary_workers where worker_id >= ?1 and worker_id < ?1 || 'g' \
     order by worker_id limit ?2"
);

#[cfg(test)]
pub(super) const ALL: [&str; 11] = [
    REGISTER,
    HOLDER,
    RUNNING,
    IDENTIFIED,
    FINISH,
    RECONCILE,
    SETTLE,
    FOLLOWED_UP,
    PRUNE,
    LIST,
    SHOW,
];
