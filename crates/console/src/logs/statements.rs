//! Keeps the statements of requests that failed, were slow, or were followed, in at most 8 MB (CONSOLE-130).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use selvedge_postgres::TracedStatement;
use serde_json::{Value, json};

use super::redact::redact;

/// The bytes that all kept statements may take together.
const MAX_TOTAL_BYTES: usize = 8_000_000;
/// The bytes that a request and each of its statements are counted with besides their texts.
const OVERHEAD_BYTES: usize = 128;

/// The statements of the latest requests that failed, were slow, or arrived while the log was followed.
#[derive(Default)]
pub(super) struct StatementStore {
    state: Mutex<State>,
    open_tails: Arc<AtomicUsize>,
}

#[derive(Default)]
struct State {
    requests: VecDeque<RequestStatements>,
    bytes: usize,
}

struct RequestStatements {
    request_id: String,
    statements: Vec<TracedStatement>,
}

/// Marks the log as followed until this value is dropped.
pub(super) struct OpenTail(Arc<AtomicUsize>);

impl StatementStore {
    /// Keeps the statements of every request until the returned value is dropped.
    pub(super) fn open_tail(&self) -> OpenTail {
        self.open_tails.fetch_add(1, Ordering::Relaxed);
        OpenTail(Arc::clone(&self.open_tails))
    }

    /// Stores the statements of a request if it failed, was slow, or the log is followed.
    pub(super) fn note(
        &self,
        request_id: &str,
        status: u16,
        is_slow: bool,
        statements: Vec<TracedStatement>,
    ) {
        if status < 400 && !is_slow && self.open_tails.load(Ordering::Relaxed) == 0 {
            return;
        }
        let request = RequestStatements {
            request_id: request_id.to_owned(),
            statements,
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.bytes += request.size();
        state.requests.push_back(request);
        while state.bytes > MAX_TOTAL_BYTES {
            let Some(oldest) = state.requests.pop_front() else {
                break;
            };
            state.bytes -= oldest.size();
        }
    }

    /// Returns the statements of a request, or `None` when they were not kept.
    pub(super) fn of_request(&self, request_id: &str) -> Option<Vec<Value>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut requests = state.requests.iter().rev();
        let found = requests.find(|request| request.request_id == request_id)?;
        Some(found.statements.iter().map(render).collect())
    }
}

impl RequestStatements {
    fn size(&self) -> usize {
        let texts = self
            .statements
            .iter()
            .map(|statement| statement.text.len() + OVERHEAD_BYTES);
        OVERHEAD_BYTES + self.request_id.len() + texts.sum::<usize>()
    }
}

impl Drop for OpenTail {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn render(statement: &TracedStatement) -> Value {
    json!({
        "shape": redact(&statement.text),
        "ms": milliseconds(statement.duration),
        "rows": statement.rows,
    })
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn statement(text: &str) -> TracedStatement {
        TracedStatement {
            text: text.to_owned(),
            started: Instant::now(),
            duration: Duration::from_micros(1500),
            rows: Some(2),
        }
    }

    #[test]
    fn console_130_statements_are_kept_of_errors_slow_requests_and_while_a_tail_is_open() {
        let store = StatementStore::default();
        let note = |id: &str, status, is_slow| store.note(id, status, is_slow, vec![statement("select $1")]);
        note("quick", 200, false);
        note("failed", 404, false);
        note("slow", 200, true);
        let tail = store.open_tail();
        note("followed", 200, false);
        drop(tail);
        note("later", 200, false);

        let is_kept =
            ["quick", "failed", "slow", "followed", "later"].map(|id| store.of_request(id).is_some());
        assert_eq!(is_kept, [false, true, true, true, false]);
        assert_eq!(
            store.of_request("slow"),
            Some(vec![json!({ "shape": "select $1", "ms": 1.5, "rows": 2 })])
        );
    }

    #[test]
    fn console_130_the_newest_statements_are_kept_within_the_memory() {
        let store = StatementStore::default();
        let text = "x".repeat(64 * 1024);
        for number in 0..200 {
            store.note(&number.to_string(), 500, false, vec![statement(&text)]);
        }

        assert_eq!(store.of_request("0"), None);
        assert!(store.of_request("199").is_some());
        assert!(store.state.lock().unwrap().bytes <= MAX_TOTAL_BYTES);
    }
}
