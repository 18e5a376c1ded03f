//! The log of this process: requests from the gateway, and lines from logging.

use std::sync::Arc;

use chrono::Utc;
use selvedge_gateway::logging::{self, LogLine};
use selvedge_gateway::{RequestListener, RequestRecord};

use super::entry::Entry;
use super::lines::Lines;
use super::ring::Ring;
use super::statements::StatementStore;

/// Keeps the latest requests and log lines in memory. The server hands it to the gateway, which reports every request
/// to it.
#[derive(Default)]
pub struct ConsoleLog {
    pub(super) requests: Ring,
    pub(super) lines: Lines,
    pub(super) statements: StatementStore,
}

impl ConsoleLog {
    /// Makes an empty log, which from now on receives every line that this process logs.
    pub fn start() -> Arc<Self> {
        let log = Arc::new(Self::default());
        let receiver = Arc::clone(&log);
        logging::listen_to_lines(Arc::new(move |line: &LogLine| {
            let now = Utc::now().timestamp_millis();
            let request_id = line.request_id.clone();
            receiver
                .lines
                .push(now, line.level.as_str(), request_id, &line.text);
        }));
        log
    }
}

impl RequestListener for ConsoleLog {
    fn note_request(&self, record: &RequestRecord<'_>) {
        // This runs on the thread that serves the request, so it must stay cheap: one allocation and a short lock.
        let now = Utc::now().timestamp_millis();
        self.requests.push(|number| Entry::new(number, now, record));
    }
}
