//! What the project's data folder and its database say about themselves: which database it is, whether it is for production, and what
//! a command that was cut off has left unfinished.

pub mod home;
pub mod identity;
pub mod initialized;
pub mod unfinished_import;
pub mod unfinished_squash;
