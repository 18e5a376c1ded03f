//! The latest lines of the log, for the requests to which they belong.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::entry::time_text;
use super::redact::redact;

/// The bytes that all kept lines may take together.
const MAX_TOTAL_BYTES: usize = 4_000_000;
/// The bytes after which a line is cut.
const MAX_LINE_BYTES: usize = 8 * 1024;

#[derive(Default)]
pub(super) struct Lines {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Line>,
    bytes: usize,
}

struct Line {
    time_ms: i64,
    level: &'static str,
    request_id: Option<String>,
    text: String,
}

impl Lines {
    pub(super) fn push(&self, time_ms: i64, level: &'static str, request_id: Option<String>, text: &str) {
        // A single line of a panic with a large value must not push all others out.
        let text = &text[..text.floor_char_boundary(MAX_LINE_BYTES)];
        let line = Line {
            time_ms,
            level,
            request_id,
            text: redact(text).into_owned(),
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.bytes += line.text.len() + size_of::<Line>();
        state.lines.push_back(line);
        while state.bytes > MAX_TOTAL_BYTES {
            let Some(oldest) = state.lines.pop_front() else {
                break;
            };
            state.bytes -= oldest.text.len() + size_of::<Line>();
        }
    }

    /// Returns the lines that were written while this request was served, the oldest first.
    pub(super) fn of_request(&self, request_id: &str) -> Vec<Value> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state
            .lines
            .iter()
            .filter(|line| line.request_id.as_deref() == Some(request_id))
            .map(|line| {
                json!({
                    "time": time_text(line.time_ms),
                    "level": line.level,
                    "message": line.text,
                })
            })
            .collect()
    }
}
