//! Broadcasts: their content and frames, and the replay of stored ones.

mod message;
mod replay;

pub(crate) use message::{Broadcast, Content, RowKey, write_envelope};
pub(crate) use replay::{Replay, ReplayRequest, Replayer};
