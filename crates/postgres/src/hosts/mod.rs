//! Several hosts of one database, of which one is the primary, and how a failover to another host is noticed.
//!
//! A server that is frozen or disconnected does not close its connections: requests on them would wait until the network reports the
//! loss, or forever if the server's kernel still acknowledges packets. Connections to it are therefore ended as soon as another
//! host is the primary.

mod connector;
mod last_host;
mod primary_watch;

pub(crate) use connector::{Connector, HostConnection};
pub(crate) use last_host::{LastHost, has_standbys};
pub(crate) use primary_watch::watch_primary;
