//! One worker: a Deno process that serves one function on a unix socket, from its start to its end.

mod command;
mod confinement;
mod end;
mod graph;
mod launcher;
mod limits;
mod output;
mod permissions;
mod state;
mod supervisor;
mod temporary_files;
mod usage;

pub(crate) use end::{End, EndReason};
pub(crate) use launcher::Launcher;
pub(crate) use state::{Lease, Worker};
pub(crate) use supervisor::start_worker;
