//! `postgres_changes`: row changes of published tables, delivered to the channels that may see them.
//!
//! In: bindings of channels with the claims of their tokens, and the logical replication stream. Out: events through a
//! [`ChangeSink`], which the channels' side implements. One thread runs it all: it reads the stream, matches each change
//! against the subscriptions, asks PostgreSQL for what only PostgreSQL knows, and encodes each event once. It knows no
//! sockets and no protocol versions.
//!
//! ```text
//! replication stream → feed → batch (match → check) → outcomes, row_change (encode) → ChangeSink
//! ```
//!
//! Source: Realtime contract §11.

mod batch;
mod binding;
mod binding_checks;
mod candidates;
mod catalog;
mod checks;
mod evaluation;
mod feed;
mod filter;
mod generated;
mod like;
mod matcher;
mod outcomes;
mod questions;
mod rights;
mod row_change;
mod snapshot;
mod subscriptions;
mod visibility;

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;

pub(crate) use feed::is_temporary;
pub use feed::{BroadcastRow, ChangeFeed};

/// The id of a channel, as the side of the sockets numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelKey(pub u64);

/// The receiver of the feed's events. Its methods are called on the feed's thread and must return immediately: while one
/// waits, no change is delivered to anyone.
pub trait ChangeSink: Send + Sync {
    /// Delivers a change to some channels. `data` is the event's `data` as JSON text; `ids` are those of the matching
    /// bindings.
    fn deliver(&self, channels: &[ChannelKey], ids: &Arc<[u64]>, data: &Bytes);

    /// Sends a `system` event with the extension `postgres_changes` to one channel.
    fn notify(&self, channel: ChannelKey, is_ok: bool, message: &str);

    /// Delivers a row inserted into `realtime.messages`: a broadcast from the database.
    fn broadcast(&self, row: BroadcastRow);

    /// Resolves when everything delivered so far waits in the queues of the sockets. The feed reads on only then, so that
    /// a large transaction cannot pile up in memory. After a full batch (`is_full`) it also gives readers a moment to
    /// catch up, so that those who do read are not taken for those who do not.
    fn settled(&self, is_full: bool) -> BoxFuture<'static, ()>;

    /// Reports that the stream of broadcasts from the database has started or was interrupted.
    fn broadcasts_ready(&self, are_ready: bool);
}
