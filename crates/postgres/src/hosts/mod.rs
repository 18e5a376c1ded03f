//! Several hosts of one database, of which one is the primary, and how a failover to another host is noticed.
//!
//! A server that is frozen or disconnected does not close its connections: requests on them would wait until the network reports the
//! loss, or forever if the server's kernel still acknowledges packets. Connections to it are therefore ended as soon as another
//! host is the primary.
//!
//! A former primary that wakes up accepts logins and writes as before, because it does not know of the promotion. It is told by its
//! timeline, which is lower than that of the primary.
//!
//! One name may lead to another server after a failover: a DNS record, a virtual address, a proxy. Each login to it asks for the timeline and the
//! number of the cluster, and so does one each second. When the timeline changes, the connections from before end; so they do when another cluster
//! alone has answered for a minute. Independent servers that answer in turns leave each other's connections.
//!
//! The sockets of a cluster that this process runs itself are told from those of another one that has come in their place.

mod ask_identity;
mod connector;
mod event_triggers;
mod examine;
mod identity;
mod last_host;
mod newer_primary;
mod newest_primary;
mod primary_watch;
mod session;
mod single_host;
mod socket_folders;
mod timeline;

pub(crate) use ask_identity::{identity_query, parse_identity, read_identity};
pub(crate) use connector::{Connector, HostConnection, NEXT_HOST_TIMEOUT};
pub(crate) use event_triggers::WITHOUT_EVENT_TRIGGERS;
pub use examine::{ExaminedHost, HostRole, examine_hosts};
pub(crate) use identity::ServerIdentity;
pub(crate) use last_host::{Acceptance, LastHost, has_standbys};
pub(crate) use newer_primary::NewerPrimary;
pub(crate) use newest_primary::find_newest_primary;
pub(crate) use primary_watch::{watch_name, watch_primary};
pub use session::find_primary;
pub(crate) use session::open_session;
pub use socket_folders::SocketFolder;
pub(crate) use socket_folders::check_socket_folder;
pub(crate) use timeline::parse_timeline;
