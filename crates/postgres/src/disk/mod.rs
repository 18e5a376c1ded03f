//! The room on the disk of a database that is on this machine: how it is judged, and what all that write there know of it.

mod room;
mod state;

pub use room::{DiskLevel, DiskRoom};
pub use state::DiskState;
