//! How many connections a node opens, and how the memory of a machine is divided, by its cores and its memory.

mod connections;
mod memory_parts;
mod request_pool;

pub use connections::{ConnectionCount, most_connections};
pub use memory_parts::MemoryParts;
pub use request_pool::{apply_pool_settings, request_pool};

/// The number of cores that this process may use; the default number of workers.
pub fn available_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
