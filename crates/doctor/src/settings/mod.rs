//! Checks of the configuration: where secrets come from, and what is still as on a laptop.

pub(crate) mod laptop;
pub(crate) mod laptop_values;
pub(crate) mod secrets;
