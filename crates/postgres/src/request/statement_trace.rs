//! Collects the statements that a request sends, so that they can be shown with the request.
//!
//! The list belongs to the task that serves the request. Where nobody collects, a statement costs one look at the task.

use std::cell::RefCell;
use std::time::{Duration, Instant};

/// The statements of one request that are kept; a request that sends more repeats itself.
const MAX_STATEMENTS: usize = 50;
/// The bytes of a statement's text that are kept.
const MAX_TEXT_BYTES: usize = 16 * 1024;

tokio::task_local! {
    static STATEMENTS: RefCell<Vec<TracedStatement>>;
}

/// A statement that was sent, without the values of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedStatement {
    /// The SQL text with `$1`, `$2` … for its parameters.
    pub text: String,
    /// The time from sending the statement to its result.
    pub duration: Duration,
    /// The rows that were returned or changed, or `None` when the statement failed or does not tell.
    pub rows: Option<u64>,
}

/// Runs a future and returns its output with the statements that were sent meanwhile by its own task.
pub async fn trace_statements<F: Future>(future: F) -> (F::Output, Vec<TracedStatement>) {
    STATEMENTS
        .scope(RefCell::default(), async {
            let output = future.await;
            (output, STATEMENTS.with(RefCell::take))
        })
        .await
}

/// Tells how many rows the latest statement has returned or changed, where only its caller can read that from the result.
pub fn set_traced_rows(rows: u64) {
    // Outside of a trace there is nothing to add the number to.
    let _ = STATEMENTS.try_with(|statements| {
        if let Some(latest) = statements.borrow_mut().last_mut() {
            latest.rows.get_or_insert(rows);
        }
    });
}

/// Measures one statement for the trace of its task.
pub(crate) struct StatementTimer {
    /// `None` where nobody collects, so that nothing is measured.
    started: Option<Instant>,
}

impl StatementTimer {
    pub(crate) fn start() -> Self {
        Self {
            started: STATEMENTS.try_with(|_| Instant::now()).ok(),
        }
    }

    /// Adds the statement to the trace.
    pub(crate) fn finish(self, text: &str) {
        let Some(started) = self.started else {
            return;
        };
        let _ = STATEMENTS.try_with(|statements| {
            let mut statements = statements.borrow_mut();
            if statements.len() < MAX_STATEMENTS {
                statements.push(TracedStatement {
                    text: text[..text.floor_char_boundary(MAX_TEXT_BYTES)].to_owned(),
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
}
