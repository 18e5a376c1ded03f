//! Questions about changes that only PostgreSQL can answer: filters, the visibility of rows, and the JSON of some
//! types.
//!
//! Row-level security is checked once per batch, table and identity: one statement with the keys of all changed rows,
//! run under the subscriber's role and claims. On any error nothing is delivered to that identity; a change is never
//! sent unchecked. The check sees the table as it is now, not as it was at the commit: a row that has since become
//! invisible is not sent.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::error::Error as _;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use selvedge_postgres::{
    AccessMode, Database, Login, Param, RequestContext, RequestError, RequestPool, RequestPoolConfig,
    RequestTransaction, SqlStatement, TransactionEnd, TransactionResult, quote_identifier,
};
use tokio::time::{Instant, sleep};
use tokio_postgres::error::Severity;
use tokio_postgres::{Client, Error};

use super::catalog::{Catalog, PublishedTable, RolePrivileges};
use super::filter::Filter;
use super::row_change::{RowChange, SqlTexts, SqlValue};
use super::subscriptions::Identity;

/// Connections for visibility checks. Statements of different identities are pipelined on them, so a few are enough.
const RLS_CONNECTIONS: usize = 4;

/// The feed's own database connections, so that a flood of requests or joins cannot delay changes.
pub(crate) struct ChecksDatabase {
    database: Arc<Database>,
    rls: RequestPool,
    /// For the catalog, filters and the validation of bindings. Opened when first needed, and again after it was lost.
    client: Option<Rc<Client>>,
}

/// How often a read is repeated after its connection was lost.
const RETRIES: u32 = 8;
/// The pause before the first repetition; it doubles with each one, which makes about 5 s in all.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// The pause between two looks at whether committed transactions are visible; it doubles with each one.
const FIRST_VISIBILITY_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_VISIBILITY_PAUSE: Duration = Duration::from_millis(50);
/// How long changes wait for their transaction to become visible. It takes long only when a synchronous standby is away.
const VISIBILITY_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs a read, and repeats it when its connection was lost: one that PostgreSQL or an administrator ended would
/// otherwise cost subscribers the changes that were being checked on it.
async fn repeat_when_lost<T, E>(
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

/// A filter together with the value that it is evaluated for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Condition {
    pub(crate) type_oid: u32,
    pub(crate) filter: Filter,
    /// `None` is null.
    pub(crate) actual: Option<Bytes>,
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

    /// The connection for the catalog and filters; opened when it is missing or closed.
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
        let existing: Vec<String> = rows.iter().filter_map(|row| row.try_get(0).ok()).collect();
        let exists = |name: &&&'static str| existing.iter().any(|other| other == **name);
        Ok(names.iter().filter(exists).copied().collect())
    }

    /// Whether `wal_level` is `logical`.
    pub(crate) async fn is_wal_level_logical(&mut self) -> Result<bool, Error> {
        let client = self.client().await?;
        let row = client.query_one("select current_setting('wal_level') = 'logical'", &[]);
        row.await?.try_get(0)
    }

    /// Asks whether a role may use a binding's filters and columns on a table.
    ///
    /// # Errors
    /// PostgreSQL's error; its text is shown to the client.
    pub(crate) async fn check_binding(
        &mut self,
        role: &str,
        table: u32,
        filters: &[Filter],
        select: Option<&[String]>,
    ) -> Result<(), Error> {
        let filters: Vec<(&str, &str, &str, bool)> = filters
            .iter()
            .map(|filter| {
                (
                    &*filter.column,
                    filter.operator.name(),
                    &*filter.value,
                    filter.is_negated,
                )
            })
            .collect();
        let filters = serde_json::to_string(&filters).expect("texts and booleans have a JSON form");
        repeat_when_lost(
            // The caller tries again later; here only a connection that had ended unnoticed is replaced.
            1,
            async || {
                self.client()
                    .await?
                    .query(
                        include_str!("sql/check_binding.sql"),
                        &[&role, &table, &filters, &select],
                    )
                    .await
                    .map(drop)
            },
            is_connection_loss,
        )
        .await
    }

    /// Evaluates filters with PostgreSQL's operators. Filters whose evaluation fails count as not fulfilled.
    pub(crate) async fn evaluate(&mut self, conditions: HashSet<Condition>) -> HashMap<Condition, bool> {
        let conditions: Vec<Condition> = conditions.into_iter().collect();
        let operators: Vec<&str> = conditions.iter().map(|one| one.filter.operator.name()).collect();
        let types: Vec<u32> = conditions.iter().map(|one| one.type_oid).collect();
        let actual: Vec<Option<String>> = conditions
            .iter()
            .map(|one| {
                one.actual
                    .as_ref()
                    .map(|text| String::from_utf8_lossy(text).into_owned())
            })
            .collect();
        let operands: Vec<&str> = conditions.iter().map(|one| &*one.filter.value).collect();
        let negated: Vec<bool> = conditions.iter().map(|one| one.filter.is_negated).collect();
        let rows = repeat_when_lost(
            RETRIES,
            async || {
                self.client()
                    .await?
                    .query(
                        include_str!("sql/evaluate_filters.sql"),
                        &[&operators, &types, &actual, &operands, &negated],
                    )
                    .await
            },
            is_connection_loss,
        );
        let results = match rows.await {
            Ok(rows) => rows.iter().map(|row| row.try_get(0).unwrap_or(false)).collect(),
            Err(error) => {
                tracing::warn!(code = "ErrorRunningQuery", %error, "filters of changes could not be evaluated");
                vec![false; conditions.len()]
            }
        };
        conditions.into_iter().zip(results).collect()
    }

    /// Waits until other sessions see these transactions. The stream delivers a transaction when its commit is written,
    /// which is a moment before PostgreSQL lets others see it, and longer with a synchronous standby. A check in that
    /// moment would find its rows missing, and the changes would be lost.
    pub(crate) async fn wait_until_visible(&mut self, transactions: BTreeSet<u32>) {
        let xids: Vec<i64> = transactions.into_iter().map(i64::from).collect();
        let mut pause = FIRST_VISIBILITY_PAUSE;
        let deadline = Instant::now() + VISIBILITY_TIMEOUT;
        loop {
            let asked = repeat_when_lost(
                RETRIES,
                async || {
                    let client = self.client().await?;
                    client
                        .query_one(include_str!("sql/are_visible.sql"), &[&xids])
                        .await?
                        .try_get::<_, bool>(0)
                },
                is_connection_loss,
            );
            match asked.await {
                Ok(true) => return,
                Ok(false) if Instant::now() < deadline => sleep(pause).await,
                outcome => {
                    tracing::warn!(
                        ?outcome,
                        "committed transactions are not visible; their rows may be missed"
                    );
                    return;
                }
            }
            pause = (pause * 2).min(LONGEST_VISIBILITY_PAUSE);
        }
    }

    /// For each question, the positions of those changes whose rows the identity can select now. The questions run
    /// concurrently.
    pub(crate) async fn visible_rows(&self, questions: Vec<VisibilityQuestion>) -> Vec<HashSet<usize>> {
        join_all(questions.iter().map(|question| async {
            match self.ask_visibility(question).await {
                Ok(visible) => visible,
                Err(error) => {
                    tracing::warn!(
                        code = "RlsPolicyError", role = question.identity.role, %error,
                        "rows could not be checked against row-level security; they are not delivered"
                    );
                    HashSet::new()
                }
            }
        }))
        .await
    }

    /// Runs one visibility question; returns the positions of the visible changes.
    async fn ask_visibility(&self, question: &VisibilityQuestion) -> Result<HashSet<usize>, RequestError> {
        let statement = question.statement();
        let result = self.run_as(&question.identity, &statement).await?;
        let visible: Option<String> = result
            .rows
            .first()
            .and_then(|row| row.try_get(0usize).ok())
            .flatten();
        // `string_agg` over no rows is null: none of them is visible.
        let positions = visible.unwrap_or_default();
        Ok(positions
            .split(',')
            .filter_map(|position| position.parse::<usize>().ok())
            // `with ordinality` counts from 1.
            .filter_map(|position| question.changes.get(position.checked_sub(1)?).copied())
            .collect())
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
        explain: None,
        end: TransactionEnd::Commit,
    }
}

/// Changed rows of one table whose visibility to one identity is to be checked.
#[derive(Debug)]
pub(crate) struct VisibilityQuestion {
    pub(crate) identity: Rc<Identity>,
    pub(crate) table: Rc<PublishedTable>,
    /// Positions of the changes in their batch, parallel to `keys`.
    pub(crate) changes: Vec<usize>,
    /// The texts of each row's primary key.
    pub(crate) keys: Vec<Vec<Bytes>>,
}

impl VisibilityQuestion {
    /// A statement that returns the numbers of the visible rows, counted from 1, as one text such as `1,3`.
    ///
    /// Its text depends on the table alone, so it is prepared once per connection; the keys are passed as one array
    /// parameter per key column, and never become part of the text.
    fn statement(&self) -> SqlStatement {
        let mut arrays = String::new();
        let mut conditions = String::new();
        let mut names = String::new();
        let mut params = Vec::new();
        for (position, column) in self.table.key_columns().enumerate() {
            let Some(column) = self.table.columns.get(column) else {
                continue;
            };
            let number = position + 1;
            let separator = if position == 0 { "" } else { ", " };
            let and = if position == 0 { "" } else { " and " };
            write!(arrays, "{separator}${number}::{}[]", column.sql_type)
                .expect("writing to a string cannot fail");
            write!(names, "{separator}k{number}").expect("writing to a string cannot fail");
            write!(
                conditions,
                "{and}t.{} = k.k{number}",
                quote_identifier(&column.name)
            )
            .expect("writing to a string cannot fail");
            let values = self.keys.iter().filter_map(|key| key.get(position));
            params.push(array_param(column.array_delimiter, values));
        }
        SqlStatement {
            text: format!(
                "select string_agg(k.n::text, ',') from unnest({arrays}) with ordinality as k ({names}, n) \
                 where exists (select from {}.{} as t where {conditions})",
                quote_identifier(&self.table.schema),
                quote_identifier(&self.table.name),
            ),
            params,
            force_custom_plan: false,
        }
    }
}

/// A PostgreSQL array literal with every element quoted, so that commas, braces and the word `NULL` in a key stay
/// data. `delimiter` is that of the type: `box`, and types that a project defines, have another one than the comma.
fn array_param<'a>(delimiter: u8, values: impl Iterator<Item = &'a Bytes>) -> Param {
    let mut literal = vec![b'{'];
    for value in values {
        if literal.len() > 1 {
            literal.push(delimiter);
        }
        literal.push(b'"');
        for byte in value.iter() {
            if matches!(byte, b'"' | b'\\') {
                literal.push(b'\\');
            }
            literal.push(*byte);
        }
        literal.push(b'"');
    }
    literal.push(b'}');
    Param::Text(literal.into())
}
