//! Where a client connects to: names become addresses, and private addresses and ports of this machine may be refused.

mod connector;
mod private_network;
mod resolver;

pub(crate) use connector::{Connector, RefusedPort};
pub use private_network::is_private;
pub use resolver::{Addresses, Resolution, ResolveName};
pub(crate) use resolver::{NoAllowedAddress, NotResolved, Resolver};
