//! `selvedge backup` and `selvedge restore`: the whole cluster and all stored objects of a project in one file.
//!
//! The file is a tar archive: the files of the data directory below `database/`, blobs below `objects/`, and
//! `manifest.json` at the end, whose checksums cover every name, size and byte before it. `create` writes it, `restore`
//! reads it; `database` and `objects` know what belongs into a consistent copy, `archive` knows the format,
//! `verify` reads a file as a whole before anything is said or done with it.

mod archive;
mod create;
mod database;
mod manifest;
mod objects;
mod progress;
mod restore;
mod settings;
mod supported;
mod verify;

pub(super) use create::run as create;
pub(super) use restore::run as restore;
