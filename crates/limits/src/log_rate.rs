//! How many bytes of something are logged.

use std::time::Instant;

/// Lets so many bytes a second pass, and as many at once after a quiet second. What does not pass is counted.
#[derive(Debug)]
pub struct LogRate {
    bytes_per_second: usize,
    allowance: usize,
    refilled: Instant,
    omitted: u64,
}

impl LogRate {
    /// A rate of which nothing has been used yet.
    pub fn new(bytes_per_second: usize) -> Self {
        Self {
            bytes_per_second,
            allowance: bytes_per_second,
            refilled: Instant::now(),
            omitted: 0,
        }
    }

    /// Whether a line of so many bytes is logged now. `Some` has the number of lines that were left out before it.
    pub fn pass(&mut self, bytes: usize) -> Option<u64> {
        self.refill(Instant::now());
        match self.allowance.checked_sub(bytes) {
            Some(left) => {
                self.allowance = left;
                Some(self.take_omitted())
            }
            None => {
                self.omitted += 1;
                None
            }
        }
    }

    /// How many lines were left out since the last one that passed, for the end of a log.
    pub fn take_omitted(&mut self) -> u64 {
        std::mem::take(&mut self.omitted)
    }

    fn refill(&mut self, now: Instant) {
        let passed = usize::try_from(now.duration_since(self.refilled).as_millis()).unwrap_or(usize::MAX);
        let earned = passed.saturating_mul(self.bytes_per_second) / 1000;
        if earned > 0 {
            self.refilled = now;
            self.allowance = self.allowance.saturating_add(earned).min(self.bytes_per_second);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn gw_049_a_second_has_a_number_of_bytes_and_what_is_left_out_is_counted() {
        let mut rate = LogRate::new(1000);

        assert_eq!(rate.pass(600), Some(0));
        assert_eq!(rate.pass(100_000), None);
        assert_eq!(rate.pass(100_000), None);
        rate.refill(Instant::now() + Duration::from_secs(60));
        assert_eq!(rate.allowance, 1000);
        assert_eq!(rate.pass(1000), Some(2));
        assert_eq!(rate.take_omitted(), 0);
    }
}
