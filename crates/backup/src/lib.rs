//! `selvedge backup` and `selvedge restore`: the whole cluster and all stored objects of a project in one file.
//!
//! The file is a tar archive: the files of the data directory below `database/`, blobs below `objects/`, and
//! `manifest.json` at the end, whose checksums cover every name, size and byte before it. `create` writes it, `restore`
//! reads it; `database` and `objects` know what belongs into a consistent copy, `archive` knows the format,
//! and reads a file as a whole (`verify`) before anything is said or done with it.
//!
//! In: the configuration of a project with an embedded cluster, and the file. Out: the file, or the project's data replaced by those of the
//! file in one step. Keys are not part of it.

mod archive;
mod create;
mod database;
mod objects;
mod progress;
mod restore;
mod settings;
mod supported;

pub use create::create_backup;
pub use restore::restore_backup;
