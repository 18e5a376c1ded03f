//! What a stack and the host of the databases say to each other, on a loopback connection that lasts as long as the stack.
//!
//! The stack sends [`REQUEST`], the host answers with one line of JSON, a [`LeasedDatabase`]. Nothing follows. When the
//! connection ends, however the stack has ended, the host removes the database.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The line that asks for a database. No request of a browser begins like this, so a web page cannot ask for one.
pub(super) const REQUEST: &str = "selvedge stack 1";

/// A database that one stack has for itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LeasedDatabase {
    /// Its name in the cluster.
    pub(super) name: String,
    /// The cluster's port on 127.0.0.1.
    pub(super) port: u16,
    /// The folder of the stack's objects.
    pub(super) data_dir: PathBuf,
}
