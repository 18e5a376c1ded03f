//! The loop of the feed's thread: waits for commands, DDL announcements, stream messages and deadlines.

use std::time::Duration;

use selvedge_postgres::ListenEvent;
use tokio::time::{Instant, sleep_until};

use super::state::Feed;
use super::stream::next_message;

/// How long to wait after a DDL announcement before the catalog is read. Migrations run many statements in a row, and
/// one read serves all of them.
const RELOAD_DELAY: Duration = Duration::from_millis(50);
/// How long the stream is kept open without any channel, so that a page reload does not restart it.
const IDLE_LIMIT: Duration = Duration::from_secs(5 * 60);

impl Feed {
    /// Handles one event after the other. An event is handled outside of `select!`'s waiting, so its work is cancelled
    /// half-way only when the feed ends.
    pub(super) async fn run(mut self) {
        loop {
            self.stop_if_idle();
            let wants_stream = self.wants_stream();
            let idle_deadline = self.idle_deadline();
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.handle_command(command).await,
                    None => return,
                },
                Some(checked) = self.checked.1.recv() => self.finish_check(checked),
                Some(news) = self.lanes.news.recv() => self.handle_lane_news(news).await,
                event = self.ddl.recv() => self.schedule_reload(event),
                message = next_message(&mut self.stream) => self.read_batch(message).await,
                () = sleep_until(self.retry_at), if wants_stream && self.stream.is_none() => self.start_stream().await,
                () = sleep_until(self.reload_at), if wants_stream => {
                    self.reload_catalog().await;
                }
                () = sleep_until(self.recheck_at), if !self.unchecked.is_empty() => self.recheck_bindings().await,
                // Only wakes the loop, which stops the stream.
                () = sleep_until(idle_deadline), if self.idle_since.is_some() => {}
            }
        }
    }

    /// Handles the commands that have arrived while the feed waited for something else.
    pub(super) async fn handle_waiting_commands(&mut self) {
        while let Ok(command) = self.commands.try_recv() {
            self.handle_command(command).await;
            self.stop_if_idle();
        }
    }

    /// Stops the stream when no channel has needed it for [`IDLE_LIMIT`].
    fn stop_if_idle(&mut self) {
        if !self.wants_stream() {
            // There are no subscribers who could miss anything.
            self.delivered.end_gap();
        }
        if self.wants_stream() || self.stream.is_none() {
            self.idle_since = None;
            return;
        }
        let since = *self.idle_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= IDLE_LIMIT {
            self.drop_stream();
        }
    }

    /// When an idle stream is to be stopped.
    fn idle_deadline(&self) -> Instant {
        self.idle_since.unwrap_or_else(Instant::now) + IDLE_LIMIT
    }

    /// Plans a read of the catalog after an announcement.
    fn schedule_reload(&mut self, event: Option<ListenEvent>) {
        match event {
            // A new connection counts as an announcement: some may have been missed while there was none.
            Some(ListenEvent::Connected | ListenEvent::Notification { .. }) => {
                self.reload_at = self.reload_at.min(Instant::now() + RELOAD_DELAY);
            }
            Some(ListenEvent::Lost(_)) | None => {}
        }
    }
}
