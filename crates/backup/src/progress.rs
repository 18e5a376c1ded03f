//! Shows a person at a terminal how far a long command is.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use selvedge_terminal::DIM;

/// The time between two lines of progress.
const INTERVAL: Duration = Duration::from_secs(2);

/// Counts bytes and prints their number from time to time. Scripts get no such lines.
pub(super) struct Progress {
    what: &'static str,
    bytes: u64,
    next: Instant,
    is_shown: bool,
}

impl Progress {
    /// Starts at zero bytes; `what` is the first word of the line.
    pub(super) fn new(what: &'static str) -> Self {
        Self {
            what,
            bytes: 0,
            next: Instant::now() + INTERVAL,
            is_shown: std::io::stderr().is_terminal(),
        }
    }

    /// Adds bytes, and updates the line if it is old enough.
    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
        if self.is_shown && Instant::now() >= self.next {
            self.next = Instant::now() + INTERVAL;
            anstream::eprintln!("{DIM}  {}: {} MB{DIM:#}", self.what, self.bytes / 1_000_000);
        }
    }
}
