//! The decisions of Auth as state machines: what is known + what happened → what follows. No I/O, no clock of their own.

pub(crate) mod enrollment;
pub(crate) mod linking;
pub(crate) mod password_change;
pub(crate) mod refresh;
pub(crate) mod session;
pub(crate) mod signup;
pub(crate) mod verify;
