//! Extensions that this machine's PostgreSQL does not have: where they come from, and what to tell people who need them.

pub(crate) mod extension_advice;
pub mod extension_packages;
