//! The handle through which channels use the feed, and the start of its thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use selvedge_limits::ClientId;
use selvedge_postgres::Database;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::watch;

use super::command::Command;
use super::state::Feed;
use crate::changes::subscriptions::Identity;
use crate::changes::{ChangeSink, ChannelKey};

/// A handle to the feed's thread. The thread ends at [`ChangeFeed::stop`], or when the last handle is dropped.
#[derive(Debug, Clone)]
pub struct ChangeFeed {
    commands: UnboundedSender<Command>,
    is_streaming: Arc<AtomicBool>,
    /// Set to true to end the thread.
    stop: watch::Sender<bool>,
}

impl ChangeFeed {
    /// Starts the feed's thread. It connects to the database when the first channel appears.
    ///
    /// # Errors
    /// When the system cannot create the thread or its runtime.
    pub fn start(database: Arc<Database>, sink: Arc<dyn ChangeSink>) -> std::io::Result<Self> {
        let (commands, receiver) = unbounded_channel();
        let is_streaming = Arc::<AtomicBool>::default();
        let for_thread = Arc::clone(&is_streaming);
        let (stop, mut stopped) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        std::thread::Builder::new()
            .name("realtime-changes".to_owned())
            .spawn(move || {
                let feed = async move {
                    let feed = Feed::new(database, sink, receiver, Arc::clone(&for_thread));
                    // The feed ends wherever it waits, because its replication slot is in use until then. Waiting for the
                    // stop fails only when no handle is left, which is a stop as well.
                    tokio::select! {
                        _ = stopped.wait_for(|is_stopped| *is_stopped) => {}
                        () = feed.run() => {}
                    }
                    for_thread.store(false, Ordering::Relaxed);
                };
                tokio::task::LocalSet::new().block_on(&runtime, feed);
            })?;
        Ok(Self {
            commands,
            is_streaming,
            stop,
        })
    }

    /// Tells the thread to end, and its replication stream with it. PostgreSQL frees the slot when it notices the closed
    /// connection, which is moments later.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until the thread has stopped.
    pub async fn stopped(&self) {
        self.commands.closed().await;
    }

    /// Subscribes a channel of a client, or replaces its bindings. `claims` is the token's payload as JSON, `role` the database
    /// role in it; each binding comes with the id that the client was given. The outcome is reported by
    /// [`ChangeSink::notify`].
    pub fn subscribe(
        &self,
        channel: ChannelKey,
        client: ClientId,
        role: String,
        claims: String,
        bindings: Vec<(u64, serde_json::Value)>,
    ) {
        let identity = Identity { role, claims };
        self.send(Command::Subscribe {
            channel,
            client,
            identity,
            bindings,
        });
    }

    /// Applies a refreshed token to a channel's subscriptions: it counts from the next batch on.
    pub fn set_claims(&self, channel: ChannelKey, role: String, claims: String) {
        let identity = Identity { role, claims };
        self.send(Command::SetClaims { channel, identity });
    }

    /// Ends a channel's subscriptions.
    pub fn unsubscribe(&self, channel: ChannelKey) {
        self.send(Command::Unsubscribe(channel));
    }

    /// Tells the feed whether any channel is open. The stream is needed even without subscriptions, because broadcasts
    /// from the database are read from it as well.
    pub fn set_active(&self, is_active: bool) {
        self.send(Command::SetActive(is_active));
    }

    /// Whether the replication stream runs at the moment.
    pub fn is_streaming(&self) -> bool {
        self.is_streaming.load(Ordering::Relaxed)
    }

    fn send(&self, command: Command) {
        if self.commands.send(command).is_err() && !*self.stop.borrow() {
            tracing::error!(
                code = "ErrorStartingPostgresCDC",
                "the thread of database changes has ended"
            );
        }
    }
}
