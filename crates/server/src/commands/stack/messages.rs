//! The messages between a stack and the host of the databases, on a loopback connection that lasts as long as the stack.
//!
//! The stack sends [`REQUEST`], the host responds with one line of JSON, a [`LeasedDatabase`]. When the connection ends for
//! any reason, the host removes the database.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The line that requests a database. No HTTP request begins like this, so a web page cannot send it.
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
