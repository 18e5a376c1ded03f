//! The connections from what happens elsewhere, in the database and in the presence of a topic, to the fan-out.

mod changes;
mod presence;

pub(crate) use changes::ChangeDelivery;
pub(crate) use presence::PresenceDelivery;
