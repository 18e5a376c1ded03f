//! Authorization of private channels by the policies on `realtime.messages`.
//!
//! Each check is one transaction in one network round trip, and is always rolled back (realtime contract §10). Equal
//! checks at the same time are run once. No verdict is cached here: the channel keeps its own.

mod authorizer;
mod error;
mod pool_pressure;
mod shared_checks;

pub(crate) use authorizer::{Authorizer, Extension, ReadVerdict, Subject};
pub(crate) use error::CheckError;
