//! Questions about changes that only PostgreSQL can answer: the visibility of rows, and the JSON of some types. Filters are
//! evaluated apart ([`super::evaluation`]).
//!
//! Row-level security is checked once per batch, table and identity: one statement with the keys of all changed rows,
//! run under the subscriber's role and claims. On any error nothing is delivered to that identity; a change is never
//! sent unchecked. The check sees the table as it is now, not as it was at the commit: a row that has since become
//! invisible is not sent, and of a row that has changed since only the values that it still has ([`super::visibility`]).

use std::collections::{BTreeSet, HashMap};
use std::error::Error as _;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use selvedge_postgres::{
    AccessMode, Database, Login, Param, RequestContext, RequestError, RequestPool, RequestPoolConfig,
    RequestTransaction, SqlStatement, TransactionEnd, TransactionResult,
};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use tokio_postgres::error::Severity;
use tokio_postgres::{Client, Error};

use super::catalog::{Catalog, RolePrivileges};
use super::row_change::{RowChange, SqlTexts, SqlValue};
use super::subscriptions::Identity;
use super::visibility::{VisibilityQuestion, VisibleRow, VisibleRows, read_answer};

/// Connections for visibility checks. Statements of different identities are pipelined on them, so a few are enough.
const RLS_CONNECTIONS: usize = 4;

/// Comparisons of values that run at the same time. Each holds a copy of up to a whole batch.
const CONCURRENT_COMPARISONS: usize = 4;

/// The feed's own database connections, so that a flood of requests or joins cannot delay changes.
pub(crate) struct ChecksDatabase {
    database: Arc<Database>,
    rls: RequestPool,
    /// For the catalog, roles and transactions. Opened when first needed, and again after it was lost.
    client: Option<Rc<Client>>,
}

/// How often a read is repeated after its connection was lost.
pub(crate) const RETRIES: u32 = 8;
/// The pause before the first repetition; it doubles with each one, which makes about 5 s in all.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// The role that reads generated columns, which has all rights on the project's tables unless the project took them.
const READER: &str = "service_role";
/// Settings under which values have the same texts as in the stream, and limits: all changes wait for this statement, also those of other tables.
/// Values that are not read in time are unknown, and filters on them are told to be undecided.
const TEXT_FORMAT: [(&str, &str); 7] = [
    ("lock_timeout", "1s"),
    ("statement_timeout", "3s"),
    ("TimeZone", "UTC"),
    ("DateStyle", "ISO"),
    ("IntervalStyle", "postgres"),
    ("bytea_output", "hex"),
    ("extra_float_digits", "3"),
];

/// The pause between two looks at whether committed transactions are visible; it doubles with each one.
const FIRST_VISIBILITY_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_VISIBILITY_PAUSE: Duration = Duration::from_millis(50);
/// How long changes wait for their transaction to become visible. It takes long only when a synchronous standby is away.
const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs a read, and repeats it when its connection was lost: one that PostgreSQL or an administrator ended would
/// otherwise cost subscribers the changes that were being checked on it.
pub(crate) async fn repeat_when_lost<T, E>(
    retries: u32,
    mut read: impl AsyncFnMut() -> Result<T, E>,
    is_lost: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let mut pause = FIRST_PAUSE;
    for _ in 0..retries {
        match read().await {
            Err(error) if is_lost(&error) => sleep(pause).await,
            outcome => return outcome,
        }
        pause *= 2;
    }
    read().await
}

/// Whether an error means that there is no connection or that it ended. PostgreSQL reports `FATAL` when it refuses a login,
/// shuts down, or an administrator ends the session.
pub(crate) fn is_connection_loss(error: &Error) -> bool {
    let is_fatal = error
        .as_db_error()
        .is_some_and(|refusal| matches!(refusal.parsed_severity(), Some(Severity::Fatal | Severity::Panic)));
    let is_broken = error.source().is_some_and(|cause| cause.is::<std::io::Error>());
    is_fatal || is_broken || error.is_closed()
}

/// What other sessions see of some committed transactions.
#[derive(Debug)]
pub(crate) struct Visibility {
    /// Whether they see all of them.
    pub(crate) are_visible: bool,
    /// A fingerprint of the roles' attributes and memberships; `None` when the database could not be asked.
    pub(crate) roles: Option<String>,
}

impl ChecksDatabase {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        let config = RequestPoolConfig {
            connections_per_worker: RLS_CONNECTIONS,
            max_connections_per_worker: 2 * RLS_CONNECTIONS,
            ..RequestPoolConfig::default()
        };
        Self {
            rls: RequestPool::new(Arc::clone(&database), config),
            database,
            client: None,
        }
    }

    /// The connection for the catalog, roles and transactions; opened when it is missing or closed.
    async fn client(&mut self) -> Result<Rc<Client>, Error> {
        if let Some(client) = self.client.as_ref().filter(|client| !client.is_closed()) {
            return Ok(Rc::clone(client));
        }
        let client = self.database.client(Login::Authenticator).await?;
        // Security: with an empty path, a function or operator that a project defines in `public` cannot replace one of
        // PostgreSQL's in the statements of this connection.
        client.batch_execute("set search_path = ''").await?;
        let client = Rc::new(client);
        self.client = Some(Rc::clone(&client));
        Ok(client)
    }

    /// Reads the published tables.
    pub(crate) async fn load_catalog(&mut self) -> Result<Catalog, Error> {
        repeat_when_lost(
            RETRIES,
            async || Catalog::load(&*self.client().await?).await,
            is_connection_loss,
        )
        .await
    }

    pub(crate) async fn load_privileges(
        &mut self,
        catalog: &Catalog,
        role: &str,
    ) -> Result<RolePrivileges, Error> {
        repeat_when_lost(
            RETRIES,
            async || RolePrivileges::load(&*self.client().await?, catalog, role).await,
            is_connection_loss,
        )
        .await
    }

    /// Returns those of the named publications that exist.
    pub(crate) async fn existing_publications(
        &mut self,
        names: &[&'static str],
    ) -> Result<Vec<&'static str>, Error> {
        let rows = self
            .client()
            .await?
            .query(
                "select pubname::text from pg_catalog.pg_publication where pubname = any($1::text[])",
                &[&names],
            )
            .await?;
        let existing: Vec<String> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        let exists = |name: &&&'static str| existing.iter().any(|other| other == **name);
        Ok(names.iter().filter(exists).copied().collect())
    }

    /// Whether `wal_level` is `logical`.
    pub(crate) async fn is_wal_level_logical(&mut self) -> Result<bool, Error> {
        let client = self.client().await?;
        let row = client.query_one("select current_setting('wal_level') = 'logical'", &[]);
        row.await?.try_get(0)
    }

    /// Waits until other sessions see these transactions. The stream delivers a transaction when its commit is written,
    /// which is a moment before PostgreSQL lets others see it, and longer with a synchronous standby. A check in that
    /// moment would find its rows missing, and the changes would be lost.
    pub(crate) async fn wait_until_visible(&mut self, transactions: BTreeSet<u32>) -> Visibility {
        let xids: Vec<i64> = transactions.into_iter().map(i64::from).collect();
        let mut pause = FIRST_VISIBILITY_PAUSE;
        let deadline = Instant::now() + VISIBILITY_TIMEOUT;
        loop {
            let asked = repeat_when_lost(
                RETRIES,
                async || {
                    let client = self.client().await?;
                    let row = client
                        .query_one(include_str!("sql/are_visible.sql"), &[&xids])
                        .await?;
                    Ok::<_, Error>((row.try_get::<_, bool>(0)?, row.try_get::<_, String>(1)?))
                },
                is_connection_loss,
            );
            match asked.await {
                Ok((true, roles)) => {
                    return Visibility {
                        are_visible: true,
                        roles: Some(roles),
                    };
                }
                Ok((false, _)) if Instant::now() < deadline => sleep(pause).await,
                outcome => {
                    tracing::warn!(
                        ?outcome,
                        "committed transactions are not visible; their rows may be missed"
                    );
                    return Visibility {
                        are_visible: false,
                        roles: outcome.ok().map(|(_, roles)| roles),
                    };
                }
            }
            pause = (pause * 2).min(LONGEST_VISIBILITY_PAUSE);
        }
    }

    /// For each question, the changed rows that the identity can select now; `None` when it could not be asked. The questions
    /// run concurrently. `are_last` says of each change of the batch whether its transaction is known to have left its row
    /// alone afterwards.
    pub(crate) async fn visible_rows(
        &self,
        questions: &[VisibilityQuestion],
        batch: &[RowChange],
        are_last: &[bool],
    ) -> Vec<Option<VisibleRows>> {
        let few = Semaphore::new(CONCURRENT_COMPARISONS);
        join_all(questions.iter().map(|question| async {
            match self.ask_visibility(question, batch, are_last, &few).await {
                Ok(visible) => Some(visible),
                Err(error) => {
                    tracing::warn!(
                        code = "RlsPolicyError", role = question.identity.role, %error,
                        "rows could not be checked against row-level security; they are not delivered"
                    );
                    None
                }
            }
        }))
        .await
    }

    /// Runs one visibility question: first for the versions of the rows, then for the values of those rows whose versions
    /// do not tell that they are as the change left them.
    async fn ask_visibility(
        &self,
        question: &VisibilityQuestion,
        batch: &[RowChange],
        are_last: &[bool],
        few: &Semaphore,
    ) -> Result<VisibleRows, RequestError> {
        let (mut rows, mut open) = (VisibleRows::new(), Vec::<usize>::new());
        if question.reads_versions {
            let answer = self.ask(question, &question.version_statement()).await?;
            for (place, version) in read_answer(answer.as_deref()) {
                let Some(position) = question.changes.get(place).copied() else {
                    continue;
                };
                let wrote_version = batch
                    .get(position)
                    .is_some_and(|change| version.parse() == Ok(change.transaction.xid));
                if wrote_version && are_last.get(position).copied().unwrap_or(false) {
                    rows.insert(position, VisibleRow::Unchanged);
                } else {
                    open.push(place);
                }
            }
            // Children of an inheritance may have a key in common, and then one of the rows is enough.
            open.retain(|place| {
                question
                    .changes
                    .get(*place)
                    .is_some_and(|position| !rows.contains_key(position))
            });
            open.dedup();
        } else {
            open.extend(0..question.changes.len());
        }
        if open.is_empty() {
            return Ok(rows);
        }
        // The statement has the values of up to a whole batch, once for each identity.
        let _turn = few.acquire().await;
        let answer = self
            .ask(question, &question.value_statement(&open, batch))
            .await?;
        for (place, flags) in read_answer(answer.as_deref()) {
            let position = open.get(place).and_then(|place| question.changes.get(*place));
            if let Some(position) = position {
                rows.insert(*position, question.read_comparison(flags));
            }
        }
        Ok(rows)
    }

    /// Runs a statement that returns one text.
    async fn ask(
        &self,
        question: &VisibilityQuestion,
        statement: &SqlStatement,
    ) -> Result<Option<String>, RequestError> {
        let result = self.run_as(&question.identity, statement).await?;
        match result.rows.first() {
            Some(row) => row
                .try_get(0usize)
                .map_err(|error| RequestError::Lost(error.to_string())),
            None => Ok(None),
        }
    }

    /// Runs a read under a subscriber's role and claims.
    async fn run_as(
        &self,
        identity: &Identity,
        statement: &SqlStatement,
    ) -> Result<TransactionResult, RequestError> {
        repeat_when_lost(
            RETRIES,
            async || self.rls.run(as_identity(identity, statement)).await,
            |error| matches!(error, RequestError::Lost(_) | RequestError::Unavailable(_)),
        )
        .await
    }

    /// Reads the texts of generated columns in the rows of the changes at `positions`, which are of one table, as the rows are now.
    /// Rows that are gone, and all if they cannot be read, are missing in the result.
    pub(crate) async fn generated_values(
        &self,
        changes: &[RowChange],
        positions: &[usize],
        columns: &[usize],
    ) -> HashMap<usize, Vec<Option<Bytes>>> {
        let keyed = positions
            .iter()
            .filter_map(|position| Some((*position, changes.get(*position)?.key()?)));
        let (positions, keys): (Vec<usize>, Vec<Vec<Bytes>>) = keyed.unzip();
        let Some(table) = positions.first().and_then(|first| changes.get(*first)) else {
            return HashMap::new();
        };
        let question = VisibilityQuestion::of_reader(READER, &table.table, positions, keys);
        let statement = question.column_statement(columns);
        let mut transaction = as_identity(&question.identity, &statement);
        transaction.context.extra = &TEXT_FORMAT;
        let result = repeat_when_lost(
            RETRIES,
            async || self.rls.run(transaction).await,
            |error| matches!(error, RequestError::Lost(_) | RequestError::Unavailable(_)),
        );
        match result.await {
            Ok(result) => result
                .rows
                .iter()
                .filter_map(|row| {
                    let number: i64 = row.try_get(0).ok()?;
                    let place = usize::try_from(number).ok()?.checked_sub(1)?;
                    let values: Option<Vec<Option<Bytes>>> = (1..=columns.len())
                        .map(|column| Some(row.try_get::<_, Option<String>>(column).ok()?.map(Bytes::from)))
                        .collect();
                    Some((*question.changes.get(place)?, values?))
                })
                .collect(),
            Err(error) => {
                tracing::warn!(
                    code = "ErrorRunningQuery", table = question.table.name, %error,
                    "generated columns of changed rows could not be read"
                );
                HashMap::new()
            }
        }
    }

    /// The JSON of values that only PostgreSQL can write. Values that fail are missing in the result.
    pub(crate) async fn render(&self, changes: &[&RowChange]) -> SqlTexts {
        let mut wanted: HashMap<SqlValue, &str> = HashMap::new();
        for change in changes {
            wanted.extend(change.sql_rendered());
        }
        // Security: converting a value may call functions that the project defines (casts to json), so this runs as `anon`,
        // the role with the fewest rights.
        let identity = Identity {
            role: "anon".to_owned(),
            claims: "{}".to_owned(),
        };
        let rendered = join_all(wanted.into_iter().map(|(value, sql_type)| {
            let identity = &identity;
            async move {
                let statement = SqlStatement {
                    text: format!("select pg_catalog.to_jsonb($1::text::{sql_type})::text"),
                    params: vec![Param::Text(value.text.clone())],
                    force_custom_plan: false,
                };
                let result = self.run_as(identity, &statement).await.ok()?;
                let json: Option<String> = result.rows.first()?.try_get(0usize).ok()?;
                Some((value, json?))
            }
        }))
        .await;
        rendered.into_iter().flatten().collect()
    }

    /// Forgets prepared statements, after the schema has changed.
    pub(crate) fn forget_statements(&self) {
        self.rls.forget_statements();
    }
}

/// A read-only transaction under a subscriber's role and claims. Read-only, because a function in a policy must not
/// write for every change that is delivered.
fn as_identity<'a>(identity: &'a Identity, statement: &'a SqlStatement) -> RequestTransaction<'a> {
    RequestTransaction {
        access: AccessMode::ReadOnly,
        isolation: None,
        context: RequestContext {
            search_path: "\"public\", \"extensions\"",
            role: &identity.role,
            claims: &identity.claims,
            method: "",
            path: "",
            headers: "{}",
            cookies: "{}",
            extra: &[],
        },
        pre_request: None,
        statement,
        calls_function: false,
        replayed_to: None,
        client: None,
        turn: None,
        explain: None,
        end: TransactionEnd::Commit,
    }
}
