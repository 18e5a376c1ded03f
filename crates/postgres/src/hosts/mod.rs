//! The hosts of a database, one of which is the primary, and when it becomes another one.
//!
//! A server that freezes, or whose link is cut, refuses nothing: what waits for it waits for as long as the network does not report
//! the loss, and never if its kernel goes on acknowledging. So a connection ends when the primary is found at another host.

mod connector;
mod last_host;
mod primary_watch;

pub(crate) use connector::{Connector, HostConnection};
pub(crate) use last_host::{LastHost, has_standbys};
pub(crate) use primary_watch::watch_primary;
