//! `auth.users`, and the identities of the provider `email` in `auth.identities`.
//!
//! Reads use `select_user.sql`, which returns NULL columns as empty strings: projects insert users by hand. Source:
//! Auth contract §6.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::Value;
use uuid::Uuid;

use super::{DbResult, ended_users, execute_statement, find_row, run_statement};
use crate::user::{STORED_PROOFS_ARE_NONE, User};

/// The columns of a new user.
#[derive(Debug)]
pub(crate) struct NewUser<'a> {
    pub(crate) id: Uuid,
    pub(crate) aud: &'a str,
    /// In lowercase; empty for a user without an address.
    pub(crate) email: &'a str,
    /// Digits without `+`; empty for a user without a number.
    pub(crate) phone: &'a str,
    /// Empty for a user without a password.
    pub(crate) encrypted_password: &'a str,
    pub(crate) app_metadata: Value,
    pub(crate) user_metadata: Value,
    pub(crate) is_anonymous: bool,
    pub(crate) invited_at: Option<DateTime<Utc>>,
    /// Whether the user signs in by SSO. Such users may share their address with others.
    pub(crate) is_sso_user: bool,
}

/// Runs a query that starts with `select_user.sql`.
pub(super) async fn find_user(
    db: &impl GenericClient,
    sql: &str,
    params: super::Params<'_>,
) -> DbResult<Option<User>> {
    find_row(db, sql, params)
        .await?
        .as_ref()
        .map(User::from_row)
        .transpose()
}

/// Finds a user by id.
pub(crate) async fn find_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<User>> {
    const SQL: &str = concat!(include_str!("../../sql/select_user.sql"), "where u.id = $1");
    find_user(db, SQL, &[&id]).await
}

/// Finds a user by id and locks the row until the transaction ends, for checks that two concurrent requests must not
/// both pass. Rows of projects' tables that refer to the user can still be written meanwhile.
pub(crate) async fn lock_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<User>> {
    const LOCK: &str = "select from auth.users where id = $1 for no key update";
    // Two statements: one that has waited for the lock would show factors and identities as they were before.
    find_row(db, LOCK, &[&id]).await?;
    find_by_id(db, id).await
}

/// Finds the user of an address (in lowercase). `instance_id` may be null in rows that were inserted by hand
/// (AUTH-089). Users of SSO are never found by their address.
pub(crate) async fn find_by_email(db: &impl GenericClient, email: &str, aud: &str) -> DbResult<Option<User>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_user.sql"),
        "where (u.instance_id = '00000000-0000-0000-0000-000000000000' or u.instance_id is null) ",
        "and lower(u.email) = $1::text and u.aud = $2::text and u.is_sso_user = false limit 1",
    );
    find_user(db, SQL, &[&email, &aud]).await
}

/// Finds the user who has registered an address: as the address of the account or of an identity. SSO identities do not
/// count, because they are never linked by their address (Auth contract §8.2), nor does an account in use that has not proven
/// the address: whoever proves it gets an account of their own.
pub(crate) async fn find_registered(
    db: &impl GenericClient,
    email: &str,
    aud: &str,
) -> DbResult<Option<User>> {
    let claimed = find_by_email(db, email, aud).await?;
    if let Some(user) = claimed.filter(|user| !user.only_claims_email()) {
        return Ok(Some(user));
    }
    find_by_verified_identity(db, email, aud, None).await
}

/// Finds a user, other than `except`, with an identity whose address its provider has verified. It may be another address than
/// that of the account, for example after a change of the latter. An address that no provider has verified belongs to nobody.
async fn find_by_verified_identity(
    db: &impl GenericClient,
    email: &str,
    aud: &str,
    except: Option<Uuid>,
) -> DbResult<Option<User>> {
    const SQL: &str = "select i.user_id from auth.identities i join auth.users u on u.id = i.user_id \
                       where i.email = $1::text and i.identity_data ->> 'email_verified' = 'true' \
                       and i.provider <> 'phone' and i.provider not like 'sso:%' and u.aud = $2::text \
                       and i.provider <> all ($4::text[]) \
                       and not u.is_sso_user and u.id is distinct from $3 limit 1";
    match find_row(
        db,
        SQL,
        &[&email, &aud, &except, &STORED_PROOFS_ARE_NONE.as_slice()],
    )
    .await?
    {
        Some(row) => find_by_id(db, row.try_get(0)?).await,
        None => Ok(None),
    }
}

/// Whether a user other than `except` has confirmed this address, or proven it at a provider. An unconfirmed address is
/// not taken: whoever proves it gets it, see [`release_email`].
pub(crate) async fn is_email_taken(
    db: &impl GenericClient,
    email: &str,
    aud: &str,
    except: Uuid,
) -> DbResult<bool> {
    if find_by_email(db, email, aud)
        .await?
        .is_some_and(|user| user.is_confirmed() && user.id != except)
    {
        return Ok(true);
    }
    // The user may have proven the address, too, and is not the one to look for.
    let proven = find_by_verified_identity(db, email, aud, Some(except)).await?;
    Ok(proven.is_some())
}

/// Takes an address (in lowercase) from every other account that has it unconfirmed, because `owner` has proven it.
pub(crate) async fn release_email(db: &impl GenericClient, email: &str, owner: Uuid) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/release_email.sql");
    execute_statement(db, SQL, &[&email, &owner, &false])
        .await
        .map(|_| ())
}

/// Takes an address (in lowercase) from an account in use that only claims it (see [`User::only_claims_email`]), for a new
/// account of `owner`, who has yet to prove it. Returns whether there was one.
pub(crate) async fn release_claimed_email(
    db: &impl GenericClient,
    email: &str,
    owner: Uuid,
) -> DbResult<bool> {
    const SQL: &str = include_str!("../../sql/release_email.sql");
    Ok(execute_statement(db, SQL, &[&email, &owner, &true]).await? > 0)
}

/// Inserts a user; identity and role follow in further statements.
///
/// # Errors
/// A unique violation when another user has the address or number; errors of the project's triggers.
pub(crate) async fn insert(db: &impl GenericClient, user: &NewUser<'_>, now: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/insert_user.sql");
    let NewUser {
        id,
        aud,
        email,
        phone,
        encrypted_password,
        app_metadata,
        user_metadata,
        is_anonymous,
        invited_at,
        is_sso_user,
    } = user;
    let params: super::Params<'_> = &[
        id,
        aud,
        email,
        encrypted_password,
        app_metadata,
        user_metadata,
        is_anonymous,
        &now,
        invited_at,
        phone,
        is_sso_user,
    ];
    run_statement(db, SQL, params).await
}

/// Inserts the e-mail or phone identity of a new user; its `provider_id` is the user's own id.
pub(crate) async fn insert_identity(
    db: &impl GenericClient,
    user_id: Uuid,
    provider: &str,
    data: &Value,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/insert_identity.sql");
    run_statement(db, SQL, &[&user_id.to_string(), &user_id, data, &provider, &now]).await
}

/// Sets the role of a new user and merges the data of the first identity into the user's metadata.
pub(crate) async fn set_role_and_merge_identity(
    db: &impl GenericClient,
    id: Uuid,
    role: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/merge_identity_metadata.sql");
    run_statement(db, SQL, &[&id, &role, &now]).await
}

/// Sets the database role that the user's tokens name.
pub(crate) async fn set_role(
    db: &impl GenericClient,
    id: Uuid,
    role: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set role = $2::text, updated_at = $3 where id = $1";
    run_statement(db, SQL, &[&id, &role, &now]).await
}

/// Marks an address (in lowercase) as confirmed, in the user's row only. Returns false when the user has another address
/// by now: a proof of one address says nothing about another.
pub(crate) async fn confirm_email(
    db: &impl GenericClient,
    id: Uuid,
    address: &str,
    now: DateTime<Utc>,
) -> DbResult<bool> {
    let rows = execute_statement(
        db,
        include_str!("../../sql/confirm_email.sql"),
        &[&id, &now, &address],
    )
    .await?;
    Ok(rows > 0)
}

/// Marks the user's identities with an address (in lowercase) as verified, after the user has opened a link that was sent
/// there.
pub(crate) async fn verify_identities(
    db: &impl GenericClient,
    id: Uuid,
    address: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    execute_statement(
        db,
        include_str!("../../sql/verify_identities.sql"),
        &[&id, &now, &address],
    )
    .await
    .map(|_| ())
}

/// Records when the user was last invited.
pub(crate) async fn set_invited(db: &impl GenericClient, id: Uuid, now: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str = "update auth.users set invited_at = $2, updated_at = $2 where id = $1";
    run_statement(db, SQL, &[&id, &now]).await
}

/// Stores the hash of a new password. Sessions and pending tokens are left to the caller.
pub(crate) async fn set_password(
    db: &impl GenericClient,
    id: Uuid,
    hash: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set encrypted_password = $2::text, updated_at = $3 where id = $1";
    run_statement(db, SQL, &[&id, &hash, &now]).await
}

/// Deletes all pending links and codes; called with a change of the password.
pub(crate) async fn clear_pending_tokens(
    db: &impl GenericClient,
    id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/clear_pending_tokens.sql");
    run_statement(db, SQL, &[&id, &now]).await
}

/// Merges `data` into `user_metadata`, which users may change themselves; null removes the key. Nested objects are
/// replaced, not merged.
pub(crate) async fn merge_user_metadata(
    db: &impl GenericClient,
    id: Uuid,
    data: &Value,
    now: DateTime<Utc>,
) -> DbResult<()> {
    // `||` merges all keys, `- text[]` then removes those whose new value is null.
    const SQL: &str = "update auth.users set raw_user_meta_data = \
                       (coalesce(raw_user_meta_data, '{}') || $2) - $3::text[], updated_at = $4 where id = $1";
    run_statement(db, SQL, &[&id, data, &list_null_keys(data), &now]).await
}

/// Merges `data` into `app_metadata`, which only administrators may change; null removes the key. Nested objects are
/// replaced, not merged.
pub(crate) async fn merge_app_metadata(
    db: &impl GenericClient,
    id: Uuid,
    data: &Value,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set raw_app_meta_data = \
                       (coalesce(raw_app_meta_data, '{}') || $2) - $3::text[], updated_at = $4 where id = $1";
    run_statement(db, SQL, &[&id, data, &list_null_keys(data), &now]).await
}

/// The keys of an object whose value is null.
fn list_null_keys(data: &Value) -> Vec<&str> {
    let members = data.as_object().into_iter().flatten();
    members
        .filter(|(_, value)| value.is_null())
        .map(|(key, _)| key.as_str())
        .collect()
}

/// Recomputes `provider` and `providers` of `app_metadata` from the identities; to be called after each change of them.
pub(crate) async fn refresh_providers(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    run_statement(db, include_str!("../../sql/refresh_providers.sql"), &[&id]).await
}

/// A change of address that awaits its confirmation. Source: Auth contract §3.5.
pub(crate) struct EmailChange<'a> {
    pub(crate) new_email: &'a str,
    /// Hash of the token that was mailed to the new address; empty when none is pending.
    pub(crate) token_new: &'a str,
    /// Hash of the token that was mailed to the current address; empty when only the new address has to
    /// confirm.
    pub(crate) token_current: &'a str,
}

/// Stores the address that the user wants to change to, and the hashes of the tokens that confirm it.
pub(crate) async fn set_email_change(
    db: &impl GenericClient,
    id: Uuid,
    change: &EmailChange<'_>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set email_change = $2::text, email_change_token_new = $3::text, \
                       email_change_token_current = $4::text, email_change_confirm_status = 0, \
                       email_change_sent_at = $5, updated_at = $5 where id = $1";
    run_statement(
        db,
        SQL,
        &[
            &id,
            &change.new_email,
            &change.token_new,
            &change.token_current,
            &now,
        ],
    )
    .await
}

/// Records that one of the two addresses has confirmed the change, the new one if `is_new`, and deletes its token.
pub(crate) async fn confirm_first_address(
    db: &impl GenericClient,
    id: Uuid,
    is_new: bool,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set email_change_confirm_status = 1, \
                       email_change_token_new = case when $2::boolean then '' else email_change_token_new end, \
                       email_change_token_current = case when $2::boolean then email_change_token_current else '' end, \
                       updated_at = $3 where id = $1";
    run_statement(db, SQL, &[&id, &is_new, &now]).await
}

/// Makes the pending address the user's address, also in the e-mail identity. `email` is that address.
pub(crate) async fn change_email(
    db: &impl GenericClient,
    id: Uuid,
    email: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    release_email(db, email, id).await?;
    execute_statement(db, include_str!("../../sql/change_email.sql"), &[&id, &now]).await?;
    upsert_email_identity(db, id, email, true, now).await?;
    refresh_providers(db, id).await
}

/// Inserts the e-mail identity, or updates its address.
pub(crate) async fn upsert_email_identity(
    db: &impl GenericClient,
    id: Uuid,
    email: &str,
    is_verified: bool,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/upsert_email_identity.sql");
    run_statement(db, SQL, &[&id, &email, &is_verified, &now]).await
}

/// Sets the address without a confirmation, for an administrator; an anonymous user becomes permanent. What was sent to
/// the address before stops working: a link in that mailbox must not sign in to the account of another address.
pub(crate) async fn set_email(
    db: &impl GenericClient,
    id: Uuid,
    email: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    release_email(db, email, id).await?;
    super::one_time_tokens::clear_all_tokens(db, id, now).await?;
    const SQL: &str = "update auth.users set email = $2::text, is_anonymous = false, email_change = '', \
                       email_change_confirm_status = 0, updated_at = $3 where id = $1";
    run_statement(db, SQL, &[&id, &email, &now]).await
}

/// Bans the user until a time; `None` lifts the ban. Neither lifts a deletion.
pub(crate) async fn set_ban(db: &impl GenericClient, id: Uuid, until: Option<DateTime<Utc>>) -> DbResult<()> {
    const SQL: &str = "update auth.users set banned_until = $2, updated_at = now() where id = $1";
    run_statement(db, SQL, &[&id, &until]).await?;
    match until {
        Some(until) => ended_users::note_ban(db, id, until).await,
        None => ended_users::lift_ban(db, id).await,
    }
}

/// Deletes the user; sessions, identities, factors and tokens are deleted by their foreign keys.
pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    run_statement(db, "delete from auth.users where id = $1", &[&id]).await?;
    ended_users::note_deletion(db, id).await
}

/// Empties the user's row and makes the identities anonymous. The row stays, because tables of projects refer to it. What else
/// could sign the user in is deleted by [`super::user_access::end`].
///
/// `email` and `phone` are irreversible hashes of the old values: they stay unique, and the address can be registered
/// again.
pub(crate) async fn soft_delete(
    db: &impl GenericClient,
    id: Uuid,
    email: Option<&str>,
    phone: Option<&str>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    execute_statement(
        db,
        include_str!("../../sql/soft_delete_user.sql"),
        &[&id, &email, &phone, &now],
    )
    .await?;
    execute_statement(db, include_str!("../../sql/soft_delete_identities.sql"), &[&id]).await?;
    ended_users::note_deletion(db, id).await
}
