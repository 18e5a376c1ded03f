//! Asks PostgreSQL whether roles may use the filters and columns of bindings: beside the feed, on connections of its own.
//!
//! What a filter costs is its author's choice: the largest regular expressions take seconds to compile. So a check has a time limit, a
//! client has one check at a time, and nobody but the client's own further joins waits for it.

use std::sync::Arc;
use std::time::Duration;

use selvedge_limits::{ClientId, Turns};
use selvedge_postgres::Database;
use tokio::sync::Semaphore;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::checks::{is_connection_loss, repeat_when_lost};
use super::evaluation::LimitedConnections;
use super::filter::Filter;

/// Connections for checks.
const CONNECTIONS: usize = 4;
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Whether a role may use a binding on one table.
#[derive(Debug)]
pub(crate) struct BindingQuestion {
    /// The position of the binding among those of its channel.
    pub(crate) binding: usize,
    pub(crate) table: u32,
    pub(crate) filters: Vec<Filter>,
    pub(crate) select: Vec<String>,
}

/// The first binding that cannot be used, and PostgreSQL's error, whose text is shown to the client.
#[derive(Debug)]
pub(crate) struct BindingRefusal {
    pub(crate) binding: usize,
    pub(crate) error: Error,
}

/// Runs the checks of joins.
pub(crate) struct BindingChecker {
    connections: LimitedConnections,
    few: Semaphore,
    turns: Turns,
}

impl BindingChecker {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        Self {
            connections: LimitedConnections::new(database, TIME_LIMIT),
            few: Semaphore::new(CONNECTIONS),
            turns: Turns::new(1),
        }
    }

    /// Asks whether the role may use all bindings.
    ///
    /// # Errors
    /// The first refusal. Errors of the connection count as one; the caller tells them apart.
    pub(crate) async fn check(
        &self,
        client: ClientId,
        role: &str,
        questions: &[BindingQuestion],
    ) -> Result<(), BindingRefusal> {
        let _turn = self.turns.wait(client).await;
        // Fails only for a closed semaphore, and this one is never closed.
        let _one_of_few = self.few.acquire().await.ok();
        let Err(error) = self.ask(role, questions).await else {
            return Ok(());
        };
        Err(BindingRefusal {
            binding: self.find_refused(role, questions, &error).await,
            error,
        })
    }

    /// The binding that PostgreSQL has refused, which it does not name. The error of all questions together is that of the first
    /// refused one, so this is found by halving.
    async fn find_refused(&self, role: &str, questions: &[BindingQuestion], error: &Error) -> usize {
        let is_refusal = !is_connection_loss(error) && error.code() != Some(&SqlState::QUERY_CANCELED);
        let mut open = questions;
        while is_refusal && open.len() > 1 {
            let (first, second) = open.split_at(open.len() / 2);
            open = match self.ask(role, first).await {
                Ok(()) => second,
                Err(_) => first,
            };
        }
        open.first().map_or(0, |question| question.binding)
    }

    /// Asks about some bindings by one statement.
    async fn ask(&self, role: &str, questions: &[BindingQuestion]) -> Result<(), Error> {
        let questions = write_questions(questions);
        // The caller tries again later; here only a connection that had ended unnoticed is replaced.
        repeat_when_lost(
            1,
            async || {
                let statement = include_str!("sql/check_bindings.sql");
                self.connections
                    .query(statement, &[&role, &questions])
                    .await
                    .map(drop)
            },
            is_connection_loss,
        )
        .await
    }
}

/// The questions as the statement reads them: `[[table, [[column, operator, value, is_negated], …], [selected, …]], …]`.
fn write_questions(questions: &[BindingQuestion]) -> String {
    type Condition<'a> = (&'a str, &'a str, &'a str, bool);

    let questions: Vec<(u32, Vec<Condition<'_>>, &[String])> = questions
        .iter()
        .map(|question| {
            let filters = question.filters.iter();
            let filters = filters.map(|one| (&*one.column, one.operator.name(), &*one.value, one.is_negated));
            (question.table, filters.collect(), &*question.select)
        })
        .collect();
    serde_json::to_string(&questions).expect("texts, numbers and booleans have a JSON form")
}
