//! The log of this process: requests from the gateway, and lines from logging.

use std::sync::Arc;

use chrono::Utc;
use selvedge_gateway::logging::{self, LogLine};
use selvedge_gateway::{RequestListener, RequestRecord};

use super::entry::Entry;
use super::lines::Lines;
use super::ring::Ring;

/// What is kept of requests and lines. The server gives it to the gateway, which fills it.
#[derive(Default)]
pub struct ConsoleLog {
    pub(super) requests: Ring,
    pub(super) lines: Lines,
}

impl ConsoleLog {
    /// An empty log, which from now on receives the lines of this process.
    pub fn start() -> Arc<Self> {
        let log = Arc::new(Self::default());
        let receiver = Arc::clone(&log);
        logging::listen_to_lines(Box::new(move |line: LogLine| {
            let now = Utc::now().timestamp_millis();
            receiver
                .lines
                .push(now, line.level.as_str(), line.request_id, &line.text);
        }));
        log
    }
}

impl RequestListener for ConsoleLog {
    fn note_request(&self, record: &RequestRecord<'_>) {
        // On the thread of the request: one allocation and a short lock.
        let now = Utc::now().timestamp_millis();
        self.requests.push(|number| Entry::new(number, now, record));
    }
}
