//! What all tests of this crate start.

pub(crate) mod running_console;
pub(crate) mod test_console;
