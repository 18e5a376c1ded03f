//! The request transaction for work that needs several statements.

use deadpool_postgres::{Client, Transaction};
use postgres_types::Type;
use tokio_postgres::{Error, IsolationLevel};

use crate::{Access, Isolation, RequestContext, RoleSettings};

/// Begins a transaction under the caller's rights on a connection that the caller holds for itself.
///
/// The connection must be of [`crate::Login::Authenticator`]: other logins cannot become the caller's role.
///
/// # Errors
/// PostgreSQL's refusal: an unknown role, or one that the login may not become.
pub async fn begin_as<'c>(
    client: &'c mut Client,
    context: &RequestContext<'_>,
    roles: &RoleSettings,
    access: Access,
) -> Result<Transaction<'c>, Error> {
    let isolation = match roles.isolation_of(context.role).unwrap_or_default() {
        Isolation::ReadCommitted => IsolationLevel::ReadCommitted,
        Isolation::RepeatableRead => IsolationLevel::RepeatableRead,
        Isolation::Serializable => IsolationLevel::Serializable,
    };
    let transaction = client
        .build_transaction()
        .isolation_level(isolation)
        .read_only(access == Access::ReadOnly)
        .start()
        .await?;
    let settings = context.settings(roles, Access::ReadWrite);
    let params: Vec<_> = settings
        .params
        .iter()
        .map(|param| (param as &(dyn tokio_postgres::types::ToSql + Sync), Type::UNKNOWN))
        .collect();
    transaction.query_typed(&settings.text, &params).await?;
    Ok(transaction)
}
