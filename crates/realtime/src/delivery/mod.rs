//! Connects the database and the presence of topics to the fan-out.

mod changes;
mod presence;

pub(crate) use changes::ChangeDelivery;
pub(crate) use presence::PresenceDelivery;
