//! What clients may use together and apart: rates of the whole project, and the memory that each client makes the service hold.

mod memory;
mod rate;

pub(crate) use memory::{GrowingMemory, HeldMemory, IncomingMessage};
pub(crate) use rate::Rate;
