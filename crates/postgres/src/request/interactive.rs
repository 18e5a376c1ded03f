//! The request transaction for handlers that run several statements and decide between them (storage's writes).

use deadpool_postgres::{Client, Transaction};
use postgres_types::Type;
use tokio_postgres::{Error, IsolationLevel};

use crate::{AccessMode, Isolation, RequestContext, RoleSettings};

/// Begins a transaction under the role and claims of `context`, on a connection that nothing else uses.
///
/// The connection must be of [`crate::Login::Authenticator`]: only that role may become the API's roles.
///
/// # Errors
/// PostgreSQL's error: an unknown role, or one that the login may not become.
pub async fn begin_as_caller<'c>(
    client: &'c mut Client,
    context: &RequestContext<'_>,
    roles: &RoleSettings,
    access: AccessMode,
) -> Result<Transaction<'c>, Error> {
    let isolation = match roles.isolation_for(context.role).unwrap_or_default() {
        Isolation::ReadCommitted => IsolationLevel::ReadCommitted,
        Isolation::RepeatableRead => IsolationLevel::RepeatableRead,
        Isolation::Serializable => IsolationLevel::Serializable,
    };
    let transaction = client
        .build_transaction()
        .isolation_level(isolation)
        .read_only(access == AccessMode::ReadOnly)
        .start()
        .await?;
    // The access mode is set by the `BEGIN` above; `ReadWrite` here means that no setting is added for it.
    become_caller(&transaction, context, roles, AccessMode::ReadWrite).await?;
    Ok(transaction)
}

/// Goes on with an open transaction under the role and claims of `context`. `ReadOnly` also takes its right to write.
///
/// # Errors
/// PostgreSQL's error: an unknown role, or one that the login may not become.
pub async fn become_caller(
    transaction: &tokio_postgres::Transaction<'_>,
    context: &RequestContext<'_>,
    roles: &RoleSettings,
    access: AccessMode,
) -> Result<(), Error> {
    let settings = context.settings(roles, access, &[]);
    let params: Vec<_> = settings
        .values
        .iter()
        .map(|value| (value as &(dyn tokio_postgres::types::ToSql + Sync), Type::TEXT))
        .collect();
    let for_workers = context.settings_for_workers(roles);
    // The futures are polled in order, so that their messages are sent in this order and in one write.
    let repeated = for_workers.iter().map(|text| transaction.query_typed(text, &[]));
    futures_util::try_join!(
        transaction.query_typed(&settings.text, &params),
        futures_util::future::try_join_all(repeated),
    )?;
    Ok(())
}
