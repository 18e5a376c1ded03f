//! Filters that only PostgreSQL can evaluate: on connections of their own, with a time limit, and apart where one takes too long.
//!
//! All conditions of a batch are one statement. When it takes too long, those of each owner are asked apart, so that whose filters are
//! slow is known, and all others get their answers. What is slow may be a row that the owner does not see: what an owner is told must
//! come from conditions of seen rows alone.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use selvedge_limits::ClientId;
use selvedge_postgres::{Database, Login};
use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, Row};

use super::checks::{RETRIES, is_connection_loss, repeat_when_lost};
use super::filter::Filter;

/// Connections on which conditions are asked apart.
const CONNECTIONS: usize = 4;
/// How long all owners that are asked apart may take together, besides the statements that are running then.
const TIME_APART: Duration = Duration::from_secs(2);

/// A filter together with the value that it is evaluated for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Condition {
    pub(crate) type_oid: u32,
    pub(crate) filter: Filter,
    /// `None` is null.
    pub(crate) actual: Option<Bytes>,
}

/// The conditions of a batch, by whom their filters belong to.
pub(crate) type Conditions = HashMap<ClientId, HashSet<Condition>>;

/// What is known of the conditions of a batch.
#[derive(Debug, Default)]
pub(crate) struct Evaluation {
    /// `None` for conditions that cannot be evaluated. Those that were not evaluated in time are missing.
    pub(crate) results: HashMap<Condition, Option<bool>>,
    /// Whose conditions took too long.
    pub(crate) slow: HashSet<ClientId>,
}

/// Connections with one time limit for statements.
pub(crate) struct LimitedConnections {
    database: Arc<Database>,
    idle: RefCell<Vec<Client>>,
    time_limit: Duration,
}

/// A statement was ended by its time limit.
#[derive(Debug)]
struct TooSlow;

impl LimitedConnections {
    pub(crate) fn new(database: Arc<Database>, time_limit: Duration) -> Self {
        Self {
            database,
            idle: RefCell::default(),
            time_limit,
        }
    }

    /// Runs a statement on a connection that nobody else uses meanwhile, and returns it for the next one.
    pub(crate) async fn query(
        &self,
        statement: &str,
        parameters: &[&(dyn tokio_postgres::types::ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let client = self.connect().await?;
        let answer = client.query(statement, parameters).await;
        self.idle.borrow_mut().push(client);
        answer
    }

    async fn connect(&self) -> Result<Client, Error> {
        let take_idle = || self.idle.borrow_mut().pop();
        while let Some(client) = take_idle() {
            if !client.is_closed() {
                return Ok(client);
            }
        }
        let client = self.database.client(Login::Authenticator).await?;
        // Security: with an empty path, a function or operator that a project defines in `public` cannot replace one of
        // PostgreSQL's in the statements of this connection.
        let settings = format!(
            "set search_path = ''; set statement_timeout = {}",
            self.time_limit.as_millis()
        );
        client.batch_execute(&settings).await?;
        Ok(client)
    }
}

/// Evaluates conditions by PostgreSQL's operators.
pub(crate) struct Evaluator {
    connections: LimitedConnections,
}

impl Evaluator {
    pub(crate) fn new(database: Arc<Database>, time_limit: Duration) -> Self {
        Self {
            connections: LimitedConnections::new(database, time_limit),
        }
    }

    /// Evaluates the conditions of a batch: together, and apart when that takes too long. Equal conditions are asked once.
    pub(crate) async fn evaluate(&self, conditions: &Conditions) -> Evaluation {
        let all: HashSet<Condition> = conditions.values().flatten().cloned().collect();
        if all.is_empty() {
            return Evaluation::default();
        }
        match self.ask_some(all).await {
            Ok(results) => Evaluation {
                results,
                slow: HashSet::new(),
            },
            Err(TooSlow) => self.evaluate_apart(conditions).await,
        }
    }

    /// Evaluates the conditions of each owner apart.
    pub(crate) async fn evaluate_apart(&self, conditions: &Conditions) -> Evaluation {
        let deadline = Instant::now() + TIME_APART;
        let asked = conditions.iter().map(|(owner, of_owner)| async move {
            // The owners before have used up the time for all of them, so the conditions of this one stay unanswered.
            match Instant::now() < deadline {
                true => (*owner, self.ask_some(of_owner.clone()).await),
                false => (*owner, Ok(HashMap::new())),
            }
        });
        let answers: Vec<_> = stream::iter(asked).buffer_unordered(CONNECTIONS).collect().await;
        let mut evaluation = Evaluation::default();
        for (owner, answer) in answers {
            match answer {
                Ok(results) => evaluation.results.extend(results),
                Err(TooSlow) => {
                    evaluation.slow.insert(owner);
                }
            }
        }
        evaluation
    }

    /// Evaluates conditions together; `None` for those whose evaluation fails.
    async fn ask_some(
        &self,
        conditions: HashSet<Condition>,
    ) -> Result<HashMap<Condition, Option<bool>>, TooSlow> {
        let mut results = HashMap::with_capacity(conditions.len());
        let mut open: Vec<Vec<Condition>> = vec![conditions.into_iter().collect()];
        while let Some(mut conditions) = open.pop() {
            match self.ask(&conditions).await {
                Ok(fulfilled) => {
                    results.extend(conditions.into_iter().zip(fulfilled.into_iter().map(Some)));
                }
                Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => return Err(TooSlow),
                // PostgreSQL does not say which one has failed: the others are found by halving.
                Err(error) if conditions.len() > 1 && is_refusal(&error) => {
                    open.push(conditions.split_off(conditions.len() / 2));
                    open.push(conditions);
                }
                Err(error) => {
                    tracing::warn!(code = "ErrorRunningQuery", %error, "filters of changes could not be evaluated");
                    results.extend(conditions.into_iter().map(|condition| (condition, None)));
                }
            }
        }
        Ok(results)
    }

    /// Evaluates conditions by one statement; returns the results in their order.
    async fn ask(&self, conditions: &[Condition]) -> Result<Vec<bool>, Error> {
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
                self.connections
                    .query(
                        include_str!("sql/evaluate_filters.sql"),
                        &[&operators, &types, &actual, &operands, &negated],
                    )
                    .await
            },
            is_connection_loss,
        );
        // In SQL a comparison with null is null, which does not hold.
        let is_fulfilled = |row: &Row| Ok(row.try_get::<_, Option<bool>>(0)?.unwrap_or(false));
        rows.await?.iter().map(is_fulfilled).collect()
    }
}

/// Whether PostgreSQL has refused a statement for what it says, and not because the database is away.
fn is_refusal(error: &Error) -> bool {
    error.code().is_some() && !is_connection_loss(error)
}
