//! Measures whether a client transfers bytes fast enough.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::listener::limits::TransferLimits;

/// The time for which one direction of a connection may still be waited for. Waiting uses it up, and transferred bytes
/// restore it. Time in which nobody waits for the client, because the server itself is busy, does not count.
#[derive(Debug)]
pub(super) struct TransferTimer {
    limits: TransferLimits,
    left: Duration,
    /// When the server began to wait for the client; `None` while it does not wait.
    waiting_since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl TransferTimer {
    pub(super) fn new(limits: TransferLimits) -> Self {
        Self {
            limits,
            left: limits.stall,
            waiting_since: None,
            timer: None,
        }
    }

    /// Starts or continues waiting for the client. Ready when the time is used up.
    pub(super) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.waiting_since.is_none() {
            let now = Instant::now();
            self.waiting_since = Some(now);
            let until = now + self.left;
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(until),
                None => self.timer = Some(Box::pin(sleep_until(until))),
            }
        }
        match &mut self.timer {
            Some(timer) => timer.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    /// Ends a wait, since this many bytes were transferred.
    pub(super) fn transferred(&mut self, bytes: usize) {
        if let Some(since) = self.waiting_since.take() {
            self.left = self.left.saturating_sub(since.elapsed());
        } else if self.left == self.limits.stall {
            return;
        }
        let micros = bytes as u64 * 1_000_000 / u64::from(self.limits.bytes_per_second.max(1));
        self.left = (self.left + Duration::from_micros(micros)).min(self.limits.stall);
    }

    /// Begins anew, with the next body.
    pub(super) fn restore(&mut self) {
        self.waiting_since = None;
        self.left = self.limits.stall;
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::advance;

    use super::*;

    const LIMITS: TransferLimits = TransferLimits {
        stall: Duration::from_secs(10),
        bytes_per_second: 1000,
    };

    /// Whether the timer has not run out, so that the server still waits for the client.
    async fn waits(timer: &mut TransferTimer) -> bool {
        poll_fn(|cx| Poll::Ready(timer.poll_wait(cx).is_pending())).await
    }

    #[actix_web::test]
    async fn gw_049_single_bytes_do_not_renew_the_waiting_time() {
        tokio::time::pause();
        let mut timer = TransferTimer::new(LIMITS);

        // Nine seconds for one byte: the second wait ends a second after it has begun.
        assert!(waits(&mut timer).await);
        advance(Duration::from_secs(9)).await;
        assert!(waits(&mut timer).await);
        timer.transferred(1);
        assert!(waits(&mut timer).await);
        advance(Duration::from_millis(1100)).await;

        assert!(!waits(&mut timer).await);
    }

    #[actix_web::test]
    async fn gw_049_a_transfer_at_the_slowest_rate_goes_on() {
        tokio::time::pause();
        let mut timer = TransferTimer::new(LIMITS);

        for _ in 0..100 {
            assert!(waits(&mut timer).await);
            advance(Duration::from_secs(9)).await;
            assert!(waits(&mut timer).await);
            timer.transferred(9 * 1000);
        }
    }

    #[actix_web::test]
    async fn gw_049_time_in_which_the_server_is_busy_does_not_count() {
        tokio::time::pause();
        let mut timer = TransferTimer::new(LIMITS);

        assert!(waits(&mut timer).await);
        timer.transferred(1);
        advance(Duration::from_secs(100)).await;

        assert!(waits(&mut timer).await);
    }
}
