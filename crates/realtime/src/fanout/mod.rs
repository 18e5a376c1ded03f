//! The path from a message to its receivers: one mailbox message per worker thread, then a loop without locks.
//!
//! [`Hub`] is shared by all threads and knows which workers have members of a topic. [`Rooms`] belongs to one worker and
//! knows the members. Every socket has an [`Outbox`], a bounded queue that the socket's task empties after the worker's
//! [`WakeQueue`] has woken it.

mod channel_id;
mod hub;
mod member;
mod outbox;
mod rooms;
mod wake_queue;

pub(crate) use channel_id::ChannelId;
pub(crate) use hub::{ChannelMessage, Delivery, Hub, SystemMessage};
pub(crate) use member::{Member, PresenceReception};
#[cfg(test)]
pub(crate) use outbox::outbox_for_tests;
pub(crate) use outbox::{Outbox, QueueLimits, Signal};
pub(crate) use rooms::Rooms;
pub(crate) use wake_queue::WakeQueue;
