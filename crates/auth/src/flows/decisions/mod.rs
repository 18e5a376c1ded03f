//! The rules of Auth as pure functions: state and event in, decision out. Without I/O; the time is a parameter.

pub(crate) mod enrollment;
pub(crate) mod linking;
pub(crate) mod password_change;
pub(crate) mod refresh;
pub(crate) mod signup;
pub(crate) mod verify;
