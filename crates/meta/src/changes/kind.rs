//! The trait that tables, columns, policies and the other changeable kinds of objects implement.

use serde::de::DeserializeOwned;

use super::transaction::Change;
use crate::error::MetaError;

/// A kind of database object: its path, the bodies of its requests, and the statements that they are turned into.
///
/// The handlers in [`super`] open the transaction, call these functions and return the object as the list shows it.
pub(crate) trait ObjectKind: 'static {
    /// Path of the list below `/pg`, such as `/tables`.
    const PATH: &'static str;
    /// Body of POST.
    type New: DeserializeOwned;
    /// Body of PATCH. A missing member leaves that property unchanged.
    type Changes: DeserializeOwned;
    /// The members of an object in the list that its statements need, such as schema and name.
    type Object: DeserializeOwned;

    /// Creates an object and returns the id under which the list shows it.
    ///
    /// # Errors
    /// 400 with PostgreSQL's message when it refuses a statement.
    async fn create(change: &Change<'_>, new: Self::New) -> Result<String, MetaError>;

    /// Changes an object and returns its id: a new one when the object had to be dropped and created again.
    ///
    /// # Errors
    /// 400 with PostgreSQL's message when it refuses a statement.
    async fn alter(
        change: &Change<'_>,
        object: Self::Object,
        changes: Self::Changes,
    ) -> Result<String, MetaError>;

    /// Returns the DROP statement; `cascades` adds CASCADE, which drops the objects that depend on it, too.
    fn drop_statement(object: &Self::Object, cascades: bool) -> String;
}
