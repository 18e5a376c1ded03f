//! What is different between the kinds of objects that can be changed.

use serde::de::DeserializeOwned;

use super::transaction::Change;
use crate::error::MetaError;

/// A kind of database object: the bodies of its requests, and the statements that they become.
pub(crate) trait ObjectKind: 'static {
    /// The path of the list of such objects below `/pg`.
    const PATH: &'static str;
    /// The body that creates one.
    type New: DeserializeOwned;
    /// The body that changes one. Members that are missing stay as they are.
    type Changes: DeserializeOwned;
    /// The members of a listed object that its statements are made of.
    type Object: DeserializeOwned;

    /// Creates an object and returns its id.
    async fn create(change: &Change<'_>, new: Self::New) -> Result<String, MetaError>;

    /// Changes an object and returns its id, which is another one if the object had to be created anew.
    async fn alter(
        change: &Change<'_>,
        object: Self::Object,
        changes: Self::Changes,
    ) -> Result<String, MetaError>;

    /// The statement that drops an object, with all that depends on it if it `cascades`.
    fn drop_statement(object: &Self::Object, cascades: bool) -> String;
}
