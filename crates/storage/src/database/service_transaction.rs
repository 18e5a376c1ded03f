//! Transactions under the service's role, for background work, and what all transactions of this service begin with.

use deadpool_postgres::{Client, Transaction};
use selvedge_postgres::{AccessMode, Database, begin_as_caller};

use crate::error::{StorageError, UniqueKey};
use crate::identity::Identity;

/// The search path of every statement and of the functions that policies call. Fixed, so that a `search_path` set for
/// the database or a role cannot put other functions in the place of ours.
pub(super) const SEARCH_PATH: &str = "storage, public, extensions";

/// Begins a transaction as the service itself, for background work.
///
/// # Errors
/// When PostgreSQL refuses the role.
pub(crate) async fn begin_service_transaction<'c>(
    database: &Database,
    client: &'c mut Client,
    operation: &'static str,
) -> Result<Transaction<'c>, StorageError> {
    let identity = Identity::service();
    let extra = extra_settings(operation, &identity);
    begin(
        database,
        client,
        &selvedge_postgres::RequestContext {
            extra: &extra[..extra.len() - 1],
            ..bare_context(&identity)
        },
    )
    .await
}

/// Begins a transaction with the settings of `context`.
///
/// # Errors
/// When PostgreSQL refuses the role.
pub(super) async fn begin<'c>(
    database: &Database,
    client: &'c mut Client,
    context: &selvedge_postgres::RequestContext<'_>,
) -> Result<Transaction<'c>, StorageError> {
    refuse_distributed_objects(database)?;
    begin_as_caller(client, context, &database.role_settings(), AccessMode::ReadWrite)
        .await
        .map_err(|error| StorageError::from_tokio_postgres(error, UniqueKey::Other))
}

/// Refuses a database in which `storage.objects` is a distributed table of Citus, because listings would be empty and deletions
/// would have no effect.
pub(super) fn refuse_distributed_objects(database: &Database) -> Result<(), StorageError> {
    if database.role_settings().distributes_objects() {
        return Err(StorageError::DistributedObjects);
    }
    Ok(())
}

/// What lets the policies decide about old versions and markers, see `objects_of_today` in the platform's file 0201.
pub(super) const ALL_VERSIONS: (&str, &str) = ("storage.object_versions", "all");

/// Settings besides those of every request: `storage.*`, and the one-claim settings that policies of older projects
/// read. Where a request is about versions, [`ALL_VERSIONS`] follows.
pub(super) fn extra_settings<'a>(operation: &'a str, identity: &'a Identity) -> [(&'a str, &'a str); 6] {
    [
        ("storage.operation", operation),
        // The trigger `storage.protect_delete` refuses deletions by SQL, because they would leave blobs without rows.
        // This setting exempts the service, which removes the blobs too.
        ("storage.allow_delete_query", "true"),
        ("request.jwt", identity.token()),
        ("request.jwt.claim.role", identity.role()),
        ("request.jwt.claim.sub", identity.subject().unwrap_or("")),
        ALL_VERSIONS,
    ]
}

/// Settings that name the identity, and nothing of a request.
pub(super) fn bare_context(identity: &Identity) -> selvedge_postgres::RequestContext<'_> {
    selvedge_postgres::RequestContext {
        search_path: SEARCH_PATH,
        role: identity.role(),
        claims: identity.claims_json(),
        method: "",
        path: "",
        headers: "{}",
        cookies: "{}",
        extra: &[],
    }
}
