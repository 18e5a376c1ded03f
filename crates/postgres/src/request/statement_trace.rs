//! Records the statements that a request sends and the stages that it passes, to be shown with the request.
//!
//! The lists belong to the task that serves the request. Without a trace, a statement costs one lookup of the task's value.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use super::RequestTransaction;

/// The statements of one request that are kept; a request that sends more repeats itself.
const MAX_STATEMENTS: usize = 50;
/// The bytes of a statement's text that are kept.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// Prefix of the application name of the session while it runs a traced transaction.
const TRACE_APPLICATION: &str = "selvedge trace_id=";

tokio::task_local! {
    static TRACE: Trace;
}

/// The trace of a request's task.
struct Trace {
    /// The application name with the id of the distributed trace. `None` where only the statements are wanted.
    application_name: Option<String>,
    collected: RefCell<RequestTrace>,
}

/// The recorded trace of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestTrace {
    /// In the order in which they ended.
    pub statements: Vec<TracedStatement>,
    /// In the order in which they ended; each began when the one before it ended. Empty without a distributed trace, which
    /// alone shows them.
    pub stages: Vec<TracedStage>,
}

/// A finished stage of the request, such as planning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracedStage {
    /// The stage's name, such as `plan`.
    pub name: &'static str,
    /// When the stage ended.
    pub ended: Instant,
}

/// A statement that was sent, without the values of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedStatement {
    /// The SQL text with `$1`, `$2` … for its parameters.
    pub text: String,
    /// When the statement was sent.
    pub started: Instant,
    /// The time from sending the statement to its result.
    pub duration: Duration,
    /// The returned or changed rows; `None` when the statement failed or PostgreSQL does not report them.
    pub rows: Option<u64>,
}

/// Runs a future and returns its output with the statements that were sent meanwhile by its own task.
pub async fn trace_statements<F: Future>(future: F) -> (F::Output, Vec<TracedStatement>) {
    // Inside of a distributed trace the statements still carry its id, and it gets them as well.
    let application_name = TRACE.try_with(|outer| outer.application_name.clone());
    let (output, collected) = collect(application_name.ok().flatten(), future).await;
    let _ = TRACE.try_with(|outer| {
        let mut of_outer = outer.collected.borrow_mut();
        of_outer.statements.extend_from_slice(&collected.statements);
        of_outer.stages.extend_from_slice(&collected.stages);
    });
    (output, collected.statements)
}

/// Runs a future as part of the distributed trace `trace_id`, and returns its output with what was collected meanwhile. In
/// PostgreSQL the `application_name` of its transactions ends with the id, and so does the log of slow statements.
pub async fn trace_request<F: Future>(trace_id: &str, future: F) -> (F::Output, RequestTrace) {
    collect(Some(format!("{TRACE_APPLICATION}{trace_id}")), future).await
}

async fn collect<F: Future>(application_name: Option<String>, future: F) -> (F::Output, RequestTrace) {
    let trace = Trace {
        application_name,
        collected: RefCell::default(),
    };
    TRACE
        .scope(trace, async {
            let output = future.await;
            (output, TRACE.with(|trace| trace.collected.take()))
        })
        .await
}

/// Records that a stage of the task's request has ended. Without a distributed trace it does nothing.
pub fn end_traced_stage(name: &'static str) {
    let _ = TRACE.try_with(|trace| {
        if trace.application_name.is_none() {
            return;
        }
        let ended = Instant::now();
        trace
            .collected
            .borrow_mut()
            .stages
            .push(TracedStage { name, ended });
    });
}

/// The id of the distributed trace to which the task belongs.
pub(super) fn current_trace_id() -> Option<String> {
    TRACE
        .try_with(|trace| {
            let name = trace.application_name.as_deref()?;
            name.strip_prefix(TRACE_APPLICATION).map(str::to_owned)
        })
        .ok()
        .flatten()
}

/// Calls `run` with the transaction. In a distributed trace the transaction also sets `application_name`, with the settings
/// that it makes anyway: so `pg_stat_activity` and PostgreSQL's log name the trace, and prepared statements keep their text.
pub(super) async fn with_application_name<T>(
    transaction: &RequestTransaction<'_>,
    run: impl AsyncFnOnce(&RequestTransaction<'_>) -> T,
) -> T {
    let name = TRACE.try_with(|trace| trace.application_name.clone());
    let Some(name) = name.ok().flatten() else {
        return run(transaction).await;
    };
    let mut settings = transaction.context.extra.to_vec();
    settings.push(("application_name", &name));
    let mut named = *transaction;
    named.context.extra = &settings;
    run(&named).await
}

/// Tells how many rows the latest statement has returned or changed, where only its caller can read that from the result.
pub fn set_traced_rows(rows: u64) {
    // Outside of a trace there is nothing to add the number to.
    let _ = TRACE.try_with(|trace| {
        if let Some(latest) = trace.collected.borrow_mut().statements.last_mut() {
            latest.rows.get_or_insert(rows);
        }
    });
}

/// Runs a statement that a service sends over a connection of its own, and adds it to the trace of the task. `count` reads from
/// the result how many rows were returned or changed. Without a trace this costs one look at the task.
///
/// # Errors
/// That of the statement.
pub async fn trace_statement<T, E>(
    text: &str,
    count: impl FnOnce(&T) -> u64,
    statement: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let timer = StatementTimer::start();
    let result = statement.await;
    timer.finish(text);
    if let Ok(found) = &result {
        set_traced_rows(count(found));
    }
    result
}

/// Measures one statement for the trace of its task.
pub(crate) struct StatementTimer {
    /// `None` without a trace, so that nothing is measured.
    started: Option<Instant>,
}

impl StatementTimer {
    pub(crate) fn start() -> Self {
        Self {
            started: TRACE.try_with(|_| Instant::now()).ok(),
        }
    }

    /// Adds the statement to the trace.
    pub(crate) fn finish(self, text: &str) {
        let Some(started) = self.started else {
            return;
        };
        let _ = TRACE.try_with(|trace| {
            let statements = &mut trace.collected.borrow_mut().statements;
            if statements.len() < MAX_STATEMENTS {
                statements.push(TracedStatement {
                    text: text[..text.floor_char_boundary(MAX_TEXT_BYTES)].to_owned(),
                    started,
                    duration: started.elapsed(),
                    rows: None,
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn console_130_statements_are_collected_per_task_with_the_rows_that_the_caller_reads() {
        StatementTimer::start().finish("outside of a trace");
        let ((), statements) = trace_statements(async {
            StatementTimer::start().finish("select $1");
            set_traced_rows(3);
            StatementTimer::start().finish("select 2");
            let other = tokio::spawn(async { StatementTimer::start().finish("of another task") });
            other.await.expect("the task ends");
        })
        .await;

        let found: Vec<_> = statements
            .iter()
            .map(|one| (one.text.as_str(), one.rows))
            .collect();
        assert_eq!(found, [("select $1", Some(3)), ("select 2", None)]);
    }

    #[tokio::test]
    async fn console_130_a_trace_keeps_a_bounded_number_of_statements_of_bounded_length() {
        let ((), statements) = trace_statements(async {
            for _ in 0..MAX_STATEMENTS + 10 {
                StatementTimer::start().finish(&"ä".repeat(MAX_TEXT_BYTES));
            }
        })
        .await;

        assert_eq!(statements.len(), MAX_STATEMENTS);
        assert_eq!(statements[0].text.len(), MAX_TEXT_BYTES);
    }

    #[tokio::test]
    async fn a_statement_of_a_services_own_connection_is_collected_with_its_rows() {
        let (failed, statements) = trace_statements(async {
            let found: Result<_, ()> = trace_statement("select 1", |rows| *rows, async { Ok(2) }).await;
            assert_eq!(found, Ok(2));
            trace_statement("select 2", |rows| *rows, async { Err(()) }).await
        })
        .await;

        assert_eq!(failed, Err(()));
        let found: Vec<_> = statements
            .iter()
            .map(|one| (one.text.as_str(), one.rows))
            .collect();
        assert_eq!(found, [("select 1", Some(2)), ("select 2", None)]);
    }

    #[tokio::test]
    async fn a_distributed_trace_gets_stages_and_the_statements_that_the_log_collects_inside_of_it() {
        let ((), trace) = trace_request("4bf92f3577b34da6a3ce929d0e0e4736", async {
            end_traced_stage("plan");
            let (id, of_log) = trace_statements(async {
                StatementTimer::start().finish("select 1");
                current_trace_id()
            })
            .await;
            assert_eq!(id.as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
            assert_eq!(of_log.len(), 1);
        })
        .await;

        assert_eq!(trace.stages[0].name, "plan");
        assert_eq!(trace.statements[0].text, "select 1");
        assert_eq!(current_trace_id(), None);
    }
}
