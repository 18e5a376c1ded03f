//! The memory that this process may use, and what is refused when it runs short.
//!
//! In: the limits of the control group, and what requests are about to keep in memory. Out: a [`Reservation`] for it, or none;
//! and whether new work is to be refused ([`MemoryBudget::is_short`]). A process that exceeds the limit of its control group is
//! killed, with everything that it has in progress. One that refuses the last requests in time loses nothing.
//!
//! Who is refused, and how that is answered, is decided by the callers.

mod budget;
mod control_group;
mod database_part;
mod metrics;
mod watch;

pub use budget::{ARRIVING_COUNTED_FROM, COUNTED_FROM, MemoryBudget, Reservation};
pub use control_group::{ControlGroup, machine_memory};
pub use database_part::{DatabaseEntry, DatabasePart, DatabaseTurn, TurnTimeout};
pub use watch::{MemoryLimit, Shortage, return_memory_of_thread, watch_memory};
