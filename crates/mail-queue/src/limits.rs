//! Whom queued mails are sent to, and how many in an hour.

use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);

/// What the project allows.
#[derive(Debug, Clone, Default)]
pub struct MailLimits {
    /// The only addresses to which mails are sent; empty allows every address.
    pub authorized_addresses: Vec<String>,
    /// Mails that one node sends in an hour; `None` means no limit.
    pub per_hour: Option<usize>,
}

/// Counts the mails that this node has sent in the current hour.
#[derive(Debug)]
pub(crate) struct HourlyCount {
    most: Option<usize>,
    began: Instant,
    sent: usize,
}

impl HourlyCount {
    pub(crate) fn new(most: Option<usize>, now: Instant) -> Self {
        Self {
            most,
            began: now,
            sent: 0,
        }
    }

    /// How many more mails may be sent.
    pub(crate) fn left(&mut self, now: Instant) -> usize {
        if now.duration_since(self.began) >= HOUR {
            *self = Self::new(self.most, now);
        }
        self.most
            .map_or(usize::MAX, |most| most.saturating_sub(self.sent))
    }

    /// How long until the next hour begins.
    pub(crate) fn rest(&self, now: Instant) -> Duration {
        HOUR.saturating_sub(now.duration_since(self.began))
    }

    pub(crate) fn count(&mut self, sent: usize) {
        self.sent += sent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_are_counted_until_the_hour_is_over() {
        let start = Instant::now();
        let mut count = HourlyCount::new(Some(3), start);

        count.count(2);
        assert_eq!(count.left(start), 1);
        count.count(1);
        assert_eq!(count.left(start + HOUR / 2), 0);
        assert_eq!(count.rest(start + HOUR / 2), HOUR / 2);
        assert_eq!(count.left(start + HOUR), 3);
    }
}
