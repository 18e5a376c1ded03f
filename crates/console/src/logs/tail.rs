//! `GET /api/logs/tail`: requests as they are answered, one JSON object a line.

use std::time::Duration;

use actix_web::{HttpResponse, web};
use bytes::Bytes;
use futures_util::stream;
use serde_json::json;

use super::filter::{Filter, FilterQuery};
use super::statements::OpenTail;
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// The time between two looks for new entries.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// The number of entries per line sent to a follower; of further ones the oldest are only counted, because nobody can read
/// that fast.
const MAX_ENTRIES_AT_ONCE: usize = 300;
/// The number of intervals after which the session is checked again, so that an ended session receives no more entries.
const SESSION_CHECK_INTERVALS: u32 = 3;

struct Follower {
    state: web::Data<ConsoleState>,
    session: Session,
    filter: Filter,
    /// The number of the newest entry that was sent or filtered out.
    seen: u64,
    rounds: u32,
    /// While this value exists, statements of all requests are stored.
    _open_tail: OpenTail,
}

/// `GET /api/logs/tail`
pub(super) async fn follow(
    state: web::Data<ConsoleState>,
    session: Session,
    query: web::Query<FilterQuery>,
) -> Result<HttpResponse, ConsoleError> {
    let follower = Follower {
        filter: Filter::parse(&query)?,
        seen: state.log.requests.newest(),
        rounds: 0,
        _open_tail: state.log.statements.open_tail(),
        state,
        session,
    };
    let lines = stream::unfold(follower, |mut follower| async move {
        let lines = follower.next_lines().await?;
        Some((Ok::<_, actix_web::Error>(lines), follower))
    });
    Ok(HttpResponse::Ok()
        .content_type("application/x-ndjson")
        .streaming(Box::pin(lines)))
}

impl Follower {
    /// Waits for new entries and returns them as lines; `None` when the session has ended. Sometimes it returns an empty
    /// line, because only a write detects a closed connection.
    async fn next_lines(&mut self) -> Option<Bytes> {
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            self.rounds += 1;
            if self.rounds.is_multiple_of(SESSION_CHECK_INTERVALS) {
                if !self.state.is_alive(&self.session).await {
                    return None;
                }
                let text = self.collect();
                return Some(if text.is_empty() { "\n".into() } else { text.into() });
            }
            let text = self.collect();
            if !text.is_empty() {
                return Some(text.into());
            }
        }
    }

    fn collect(&mut self) -> String {
        let blocks = self.state.log.requests.snapshot_after(self.seen);
        let seen = self.seen;
        let new: Vec<_> = blocks
            .iter()
            .flat_map(|block| block.iter())
            .filter(|entry| entry.number > seen)
            .collect();
        if let Some(last) = new.last() {
            self.seen = last.number;
        }
        let matching: Vec<_> = new
            .into_iter()
            .filter(|entry| self.filter.matches(entry))
            .collect();
        let skipped = matching.len().saturating_sub(MAX_ENTRIES_AT_ONCE);
        let mut text = String::new();
        if skipped > 0 {
            text.push_str(&json!({ "skipped": skipped }).to_string());
            text.push('\n');
        }
        for entry in &matching[skipped..] {
            text.push_str(&entry.to_json().to_string());
            text.push('\n');
        }
        text
    }
}
