//! Looks up the table that a request names by its oid.

use selvedge_introspection::TableShape;
use tokio_postgres::GenericClient;

use crate::error::ConsoleError;

/// Reads the shape of the table with this oid as the client's role sees it.
///
/// # Errors
/// 404 when it was dropped since the browser half has read the catalog.
pub(super) async fn find_table(client: &impl GenericClient, oid: &str) -> Result<TableShape, ConsoleError> {
    TableShape::load(client, oid)
        .await?
        .ok_or_else(|| ConsoleError::not_found("The table does not exist any more"))
}
