//! Presence: the entries of a topic, and the diffs that announce changes to its members.
//!
//! The entries of all channels of this process, and of those of other nodes, are kept in memory; nothing is stored in the
//! database.

mod diff;
mod entry;
mod owner;
mod store;

pub(crate) use diff::PresenceDiff;
pub(crate) use entry::{Entry, Tracked};
pub(crate) use owner::{NodeNumber, Owner};
pub(crate) use store::{Due, PresenceStore};
