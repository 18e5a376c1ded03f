//! Reads on streaming replicas, without stale reads of one's own writes.
//!
//! In: the addresses of replicas, and who wrote when. Out: for each read either a replica's result, or nothing, and then
//! the caller runs the read on the primary. [`Replicas`] exists once per process and [`ReplicaPools`] once per worker.
//!
//! The primary is asked for its WAL position a few times per second ([`positions`]). A read must see everything that its
//! reader wrote, so it requires the first position that was asked for after the reader's last write ([`recent_writes`]),
//! and everybody requires the position of `max_lag` ago. The replica compares this with what it has replayed in the same
//! round trip as the read. Only times of this process are compared with each other, so clocks of other machines do not
//! matter, with one exception: the time at which a token was issued.

mod config;
mod metrics;
mod monitor;
mod pools;
mod positions;
mod reader;
mod recent_writes;
mod replica;
mod shared;

pub use config::{ReplicaConfig, ReplicasConfig};
pub use pools::ReplicaPools;
pub use reader::{Reader, Writer};
pub use shared::Replicas;
