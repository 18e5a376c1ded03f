//! Accounts whose address nobody has confirmed yet, and what those who registered it have left there.
//!
//! Anybody may sign up with somebody else's address. Until it is confirmed nobody can sign in; but the password of that
//! sign-up would be valid once the owner of the address has confirmed it. So an address that was registered twice, with
//! different credentials, is contested: whoever proves it gets the account without them. A password that an administrator has
//! set stays: no stranger has chosen it. Source: Auth contract §13.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::user_access::{self, AccessEnd};
use super::{DbResult, execute_statement, find_row};
use crate::user::User;

/// Whether nobody can have used the account: none of its addresses is confirmed, and nobody has signed in.
pub(crate) fn is_unproven(user: &User) -> bool {
    !user.is_confirmed() && !user.is_phone_confirmed() && user.last_sign_in_at.is_none()
}

/// Marks an account that nobody has proven as contested: somebody claims its address who may not be the one who has
/// registered it. Other accounts stay as they are.
pub(crate) async fn contest(db: &impl GenericClient, user: &User, now: DateTime<Utc>) -> DbResult<()> {
    match is_unproven(user) {
        true => mark(db, user.id, now).await,
        false => Ok(()),
    }
}

/// Marks a new account as contested.
pub(crate) async fn mark(db: &impl GenericClient, user_id: Uuid, now: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str = "insert into _selvedge.selvedge_contested_accounts (user_id, created_at) values ($1, $2) \
                       on conflict (user_id) do nothing";
    execute_statement(db, SQL, &[&user_id, &now]).await.map(|_| ())
}

/// Removes the mark; returns whether the account was contested.
pub(crate) async fn take(db: &impl GenericClient, user_id: Uuid) -> DbResult<bool> {
    const SQL: &str = "delete from _selvedge.selvedge_contested_accounts where user_id = $1";
    Ok(execute_statement(db, SQL, &[&user_id]).await? > 0)
}

/// Records that an administrator has set the password of an account that nobody has proven: it is not a stranger's.
pub(crate) async fn vouch_for_password(
    db: &impl GenericClient,
    user: &User,
    now: DateTime<Utc>,
) -> DbResult<()> {
    if !is_unproven(user) {
        return Ok(());
    }
    const SQL: &str = "insert into _selvedge.selvedge_vouched_passwords (user_id, created_at) values ($1, $2) \
                       on conflict (user_id) do nothing";
    execute_statement(db, SQL, &[&user.id, &now]).await.map(|_| ())
}

/// Forgets that an administrator has set the password of an account: whoever was told it had the address before.
pub(crate) async fn withdraw_vouch(db: &impl GenericClient, user_id: Uuid) -> DbResult<()> {
    const SQL: &str = "delete from _selvedge.selvedge_vouched_passwords where user_id = $1";
    execute_statement(db, SQL, &[&user_id]).await.map(|_| ())
}

/// What of an account was forgotten, because somebody else may have set it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Forgotten {
    pub(crate) password: bool,
    /// Identities of providers.
    pub(crate) identities: bool,
}

/// Removes what those who registered the address could sign in with: the password, unless an administrator has set it,
/// identities of providers with their metadata, and all that [`user_access::end`] ends. Address, other metadata, and what waits
/// for the link that has proven the address stay.
pub(crate) async fn forget_credentials(
    db: &impl GenericClient,
    user_id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<Forgotten> {
    let password = forget_password(db, user_id, now).await?;
    let identities = forget_identities(db, user_id, false).await?;
    user_access::end(db, user_id, AccessEnd::AddressProven, now).await?;
    Ok(Forgotten { password, identities })
}

/// Removes from an account that nobody has proven the identities of providers that have not verified its address: an administrator
/// who confirms the address does not confirm whoever has named it to a provider. Returns whether there were any.
pub(crate) async fn forget_unverified_identities(db: &impl GenericClient, user: &User) -> DbResult<bool> {
    if !is_unproven(user) {
        return Ok(false);
    }
    forget_identities(db, user.id, true).await
}

/// Removes identities of providers with what they have written into the user's metadata: all, or those alone whose provider has
/// not verified the address. Returns whether there were any.
async fn forget_identities(db: &impl GenericClient, user_id: Uuid, only_unverified: bool) -> DbResult<bool> {
    const SQL: &str = include_str!("../../sql/forget_identities.sql");
    match find_row(db, SQL, &[&user_id, &only_unverified]).await? {
        Some(row) => row.try_get(0),
        None => Ok(false),
    }
}

/// Removes the password, unless an administrator has set it; returns whether there was one.
pub(crate) async fn forget_password(
    db: &impl GenericClient,
    user_id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<bool> {
    const SQL: &str = "update auth.users set encrypted_password = null, updated_at = $2 \
                       where id = $1 and encrypted_password <> '' \
                       and not exists (select from _selvedge.selvedge_vouched_passwords where user_id = $1)";
    Ok(execute_statement(db, SQL, &[&user_id, &now]).await? > 0)
}
