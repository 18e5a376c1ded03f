//! The thread that reads the replication stream and serves the subscriptions.
//!
//! One thread owns all state of the feed, so nothing is locked and events keep the order of the commits: channels send
//! commands through a [`ChangeFeed`], and the thread handles commands, DDL announcements and stream messages one after
//! the other. The stream is started when the first channel appears, restarted with growing pauses when it breaks, and
//! stopped some minutes after the last channel has gone.

mod broadcast_row;
mod command;
mod handle;
mod hidden_filters;
mod lane;
mod lost_bindings;
mod missed_broadcasts;
mod read;
mod route;
mod run;
mod state;
mod stream;
mod subscribe;

pub use broadcast_row::BroadcastRow;
pub use handle::ChangeFeed;
pub(crate) use subscribe::is_temporary;
