//! Waiting for something of which there is little, such as database connections.

mod fair_queue;
mod turns;

pub use fair_queue::{FairQueue, FairQueueLimits, Slot, Waiter};
pub use turns::{Turn, Turns};
