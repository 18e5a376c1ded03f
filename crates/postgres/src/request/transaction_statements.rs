//! Adds a transaction's statements to a batch, in the order in which they are sent: `BEGIN` if necessary, settings, the request's
//! own statements.

use super::begin_text;
use super::context::RequestContext;
use super::running::Attempt;
use super::statement::SqlStatement;
use crate::json::{JsonDocument, JsonRows};
use crate::wire::{Batch, BatchError, RepeatConditions, Sink};
use crate::{AccessMode, Isolation, JsonRead, RequestTransaction, RoleSettings, TransactionStage};

/// The key of prepared statements whose meaning does not depend on role and search path.
pub(super) const ANY_ROLE: (&str, &str) = ("", "");

/// Makes an isolated transaction send its statements without preparing them.
pub(super) fn prepare_for(attempt: Attempt, batch: &mut Batch<'_>) {
    if attempt == Attempt::Isolated {
        batch.without_prepared_statements();
    }
}

/// Returns the isolation level of the transaction, else that of its role.
pub(super) fn isolation_for(transaction: &RequestTransaction<'_>, roles: &RoleSettings) -> Isolation {
    transaction
        .isolation
        .or_else(|| roles.isolation_for(transaction.context.role))
        .unwrap_or_default()
}

/// Fails with a division by zero unless the server is a replica that has replayed WAL up to `$1`. The statements after it take their
/// snapshots later, so they see at least that state.
const REPLICA_CHECK: &str =
    "select 1 / (pg_is_in_recovery() and pg_last_wal_replay_lsn() >= $1::pg_lsn)::int";

/// Adds the statement that sets the request's settings; on a replica, the check of the replayed position precedes it.
pub(super) fn push_settings(
    batch: &mut Batch<'_>,
    transaction: &RequestTransaction<'_>,
    roles: &RoleSettings,
    access: AccessMode,
    session: &[(String, String)],
) -> Result<(), BatchError> {
    if let Some(position) = transaction.replayed_to {
        let position = position.to_string();
        let stage = TransactionStage::ReplicaCheck;
        batch.execute_text(
            stage,
            ANY_ROLE,
            REPLICA_CHECK,
            &[position.as_str()],
            Sink::Discard,
        )?;
    }
    if let Some(turn) = transaction.turn {
        batch.hold(turn);
    }
    let settings = transaction.context.settings(roles, access, session);
    batch.execute_text(
        TransactionStage::Settings,
        ANY_ROLE,
        &settings.text,
        &settings.values,
        Sink::Discard,
    )?;
    for text in transaction.context.settings_for_workers(roles) {
        // Not prepared, because the text contains this request's values and would hardly be used again.
        let statement = SqlStatement {
            force_custom_plan: true,
            ..SqlStatement::plain(text)
        };
        batch.execute(TransactionStage::Settings, ANY_ROLE, &statement, Sink::Discard)?;
    }
    Ok(())
}

/// Adds the `BEGIN`.
fn push_begin(
    batch: &mut Batch<'_>,
    transaction: &RequestTransaction<'_>,
    isolation: Isolation,
) -> Result<(), BatchError> {
    let begin = SqlStatement::plain(begin_text(transaction.access, isolation));
    batch.execute(TransactionStage::Begin, ANY_ROLE, &begin, Sink::Discard)
}

/// What becomes of the rows of a transaction's main statement.
#[derive(Debug, Clone, Copy)]
pub(super) enum Output {
    Rows,
    /// Its last column has the elements of a document.
    Json(JsonDocument),
}

/// Adds `BEGIN`, the settings and the statements, but no COMMIT or ROLLBACK.
pub(super) fn push_explicit(
    batch: &mut Batch<'_>,
    transaction: &RequestTransaction<'_>,
    roles: &RoleSettings,
    (isolation, output): (Isolation, Output),
    session: &[(String, String)],
) -> Result<(), BatchError> {
    push_begin(batch, transaction, isolation)?;
    // BEGIN has set the access mode already.
    push_settings(batch, transaction, roles, AccessMode::ReadWrite, session)?;
    push_statements(batch, transaction, roles, output)
}

/// For the transaction only: the reset of the session would remove a limit of the session, and behind a transaction pooler the next
/// transaction may run in another session.
const LIMIT_IDLE: &str = "select set_config('idle_in_transaction_session_timeout', '20s', true)";

/// Makes PostgreSQL end the transaction, and free its locks, if neither commit nor rollback follows. A frozen process keeps its
/// connections, so its transactions would stay open until it wakes up.
pub(super) fn push_idle_limit(batch: &mut Batch<'_>) -> Result<(), BatchError> {
    let limit = SqlStatement::plain(LIMIT_IDLE);
    batch.execute(TransactionStage::TransactionEnd, ANY_ROLE, &limit, Sink::Discard)
}

/// Repeats the claims for the workers of Citus, which are not sent what a function has changed by `set_config`; also headers and status
/// of the response, because a worker reads them where it runs the whole statement.
const REPEAT_SETTINGS: &str = "do $$ declare setting text; begin \
    foreach setting in array array['request.jwt.claims', 'response.headers', 'response.status'] loop \
    if current_setting(setting, true) is not null then \
    execute format('set local %s = %L', setting, current_setting(setting)); end if; end loop; end $$";

/// Adds the pre-request function, the main statement and the one after it.
pub(super) fn push_statements(
    batch: &mut Batch<'_>,
    transaction: &RequestTransaction<'_>,
    roles: &RoleSettings,
    output: Output,
) -> Result<(), BatchError> {
    let context: &RequestContext<'_> = &transaction.context;
    let parsed_as = (context.role, context.search_path);
    if let Some(text) = transaction.pre_request {
        batch.execute(
            TransactionStage::PreRequest,
            parsed_as,
            &SqlStatement::plain(text),
            Sink::Discard,
        )?;
        if roles.has_citus() {
            let repeat = SqlStatement::plain(REPEAT_SETTINGS);
            batch.execute(TransactionStage::PreRequest, ANY_ROLE, &repeat, Sink::Discard)?;
        }
    }
    let (stage, statement) = (TransactionStage::Statement, transaction.statement);
    match output {
        Output::Rows => batch.execute(stage, parsed_as, statement, Sink::Rows(Vec::new()))?,
        Output::Json(document) => {
            let rows = JsonRows::new(document, transaction.access == AccessMode::ReadWrite);
            batch.read_json_texts(stage, parsed_as, statement, rows)?;
        }
    }
    match transaction.explain {
        Some(explain) => batch.execute(
            TransactionStage::Explain,
            parsed_as,
            explain,
            Sink::Rows(Vec::new()),
        ),
        None => Ok(()),
    }
}

/// Adds a read whose rows this process renders as JSON, and the statement after it, and returns false. If the types of the columns are
/// not supported, or not known where that matters, adds the fallback statement, whose JSON PostgreSQL renders, instead and returns true.
pub(super) fn push_json_read(
    batch: &mut Batch<'_>,
    transaction: &RequestTransaction<'_>,
    (listing, may_be_written): (&JsonRead<'_>, bool),
    roles: &RoleSettings,
    formats: &[(String, String)],
) -> Result<bool, BatchError> {
    if roles.has_citus() {
        push_begin(batch, transaction, Isolation::ReadCommitted)?;
    }
    push_settings(batch, transaction, roles, transaction.access, formats)?;
    let parsed_as = (transaction.context.role, transaction.context.search_path);
    let stage = TransactionStage::Statement;
    let writes = transaction.access == AccessMode::ReadWrite;
    let rows = || JsonRows::new(listing.document, writes);
    let repeat = RepeatConditions {
        is_read: !writes,
        may_be_written,
        may_run_twice: listing.may_run_twice,
    };
    let is_fallback = !batch.read_json(stage, parsed_as, (transaction.statement, repeat), rows)?;
    if is_fallback {
        batch.read_json_texts(stage, parsed_as, &(listing.fallback)(), rows())?;
    }
    let rows = Sink::Rows(Vec::new());
    batch.execute(TransactionStage::Explain, ANY_ROLE, listing.after, rows)?;
    Ok(is_fallback)
}
