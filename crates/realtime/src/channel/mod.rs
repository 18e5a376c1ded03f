//! One channel: a socket's membership in a topic, from its join to its end.
//!
//! [`JoinRequest`] is the payload of the join, [`admission`] decides about it, and [`Channel`] handles the messages after
//! that. A decision that needs the database is a [`Check`], which the socket runs concurrently with its other work.

mod admission;
mod binding;
mod broadcast;
mod check;
mod early_subscription;
mod join_error;
mod join_request;
mod joined;
mod permissions;
mod presence;

pub(crate) use admission::{Admission, admit, check_join};
pub(crate) use check::{Check, CheckOutcome};
pub(crate) use join_error::JoinError;
pub(crate) use join_request::JoinRequest;
pub(crate) use joined::{Channel, Handled, SocketContext};
