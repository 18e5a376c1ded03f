//! `auth.users` and `auth.identities`.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::Value;
use uuid::Uuid;

use super::{DbResult, execute, find, list, run};
use crate::user::User;

/// What a new row of `auth.users` starts with.
#[derive(Debug)]
pub(crate) struct NewUser<'a> {
    pub(crate) id: Uuid,
    pub(crate) aud: &'a str,
    /// Empty for an anonymous user.
    pub(crate) email: &'a str,
    /// Empty for a user without one.
    pub(crate) phone: &'a str,
    /// Empty for a user without a password.
    pub(crate) encrypted_password: &'a str,
    pub(crate) app_metadata: Value,
    pub(crate) user_metadata: Value,
    pub(crate) is_anonymous: bool,
    pub(crate) invited_at: Option<DateTime<Utc>>,
}

pub(super) async fn find_user(
    db: &impl GenericClient,
    sql: &str,
    params: super::Params<'_>,
) -> DbResult<Option<User>> {
    find(db, sql, params)
        .await?
        .as_ref()
        .map(User::from_row)
        .transpose()
}

/// The user of this id.
pub(crate) async fn find_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<User>> {
    const SQL: &str = concat!(include_str!("../../sql/select_user.sql"), "where u.id = $1");
    find_user(db, SQL, &[&id]).await
}

/// The same, locked until the transaction ends: for tokens that may be used once.
pub(crate) async fn lock_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<User>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_user.sql"),
        "where u.id = $1 for update of u"
    );
    find_user(db, SQL, &[&id]).await
}

/// The user of this (lowercase) address. Rows of other tools may lack the instance.
pub(crate) async fn find_by_email(db: &impl GenericClient, email: &str, aud: &str) -> DbResult<Option<User>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_user.sql"),
        "where (u.instance_id = '00000000-0000-0000-0000-000000000000' or u.instance_id is null) ",
        "and lower(u.email) = $1::text and u.aud = $2::text and u.is_sso_user = false limit 1",
    );
    find_user(db, SQL, &[&email, &aud]).await
}

/// Who is known by this address already: its user, or the owner of an identity with it (SSO excluded).
pub(crate) async fn find_registered(
    db: &impl GenericClient,
    email: &str,
    aud: &str,
) -> DbResult<Option<User>> {
    if let Some(user) = find_by_email(db, email, aud).await? {
        return Ok(Some(user));
    }
    const SQL: &str = "select i.user_id from auth.identities i join auth.users u on u.id = i.user_id \
                       where i.email = $1::text and i.provider not like 'sso:%' and u.aud = $2::text \
                       and not u.is_sso_user limit 1";
    match find(db, SQL, &[&email, &aud]).await? {
        Some(row) => find_by_id(db, row.try_get(0)?).await,
        None => Ok(None),
    }
}

/// Whether a user other than `except` has this address.
pub(crate) async fn is_email_taken(
    db: &impl GenericClient,
    email: &str,
    aud: &str,
    except: Uuid,
) -> DbResult<bool> {
    Ok(find_registered(db, email, aud)
        .await?
        .is_some_and(|user| user.id != except))
}

/// A page of users, newest first unless `ascending`.
pub(crate) async fn list_page(
    db: &impl GenericClient,
    aud: &str,
    filter: &str,
    ascending: bool,
    limit: i64,
    offset: i64,
) -> DbResult<Vec<User>> {
    const PAGE: &str = include_str!("../../sql/list_users.sql");
    let rows = list(
        db,
        PAGE,
        &[&aud, &literal_pattern(filter), &ascending, &limit, &offset],
    )
    .await?;
    let ids: Vec<Uuid> = rows.iter().map(|row| row.try_get(0)).collect::<DbResult<_>>()?;
    const USERS: &str = concat!(
        include_str!("../../sql/select_user.sql"),
        "where u.id = any($1) order by array_position($1, u.id)"
    );
    list(db, USERS, &[&ids])
        .await?
        .iter()
        .map(User::from_row)
        .collect()
}

/// How many users the filter leaves.
pub(crate) async fn count(db: &impl GenericClient, aud: &str, filter: &str) -> DbResult<i64> {
    let row = find(
        db,
        include_str!("../../sql/count_users.sql"),
        &[&aud, &literal_pattern(filter)],
    )
    .await?;
    row.map_or(Ok(0), |row| row.try_get(0))
}

/// The filter with the characters of `like` taken literally.
fn literal_pattern(filter: &str) -> String {
    filter
        .replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_")
}

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
    ];
    run(db, SQL, params).await
}

/// Adds the identity that a user has from the start; its subject is the user itself.
pub(crate) async fn insert_identity(
    db: &impl GenericClient,
    user_id: Uuid,
    provider: &str,
    data: &Value,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/insert_identity.sql");
    run(db, SQL, &[&user_id.to_string(), &user_id, data, &provider, &now]).await
}

/// Gives a new user its role, and the knowledge of its first identity.
pub(crate) async fn finish_new_user(
    db: &impl GenericClient,
    id: Uuid,
    role: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/merge_identity_metadata.sql");
    run(db, SQL, &[&id, &role, &now]).await
}

pub(crate) async fn set_role(
    db: &impl GenericClient,
    id: Uuid,
    role: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set role = $2::text, updated_at = $3 where id = $1";
    run(db, SQL, &[&id, &role, &now]).await
}

pub(crate) async fn confirm_email(db: &impl GenericClient, id: Uuid, now: DateTime<Utc>) -> DbResult<()> {
    run(db, include_str!("../../sql/confirm_email.sql"), &[&id, &now]).await
}

/// The identities that carry the user's address are proven by a link that was mailed to it.
pub(crate) async fn prove_identities(db: &impl GenericClient, id: Uuid, now: DateTime<Utc>) -> DbResult<()> {
    execute(db, include_str!("../../sql/prove_identities.sql"), &[&id, &now])
        .await
        .map(|_| ())
}

pub(crate) async fn set_invited(db: &impl GenericClient, id: Uuid, now: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str = "update auth.users set invited_at = $2, updated_at = $2 where id = $1";
    run(db, SQL, &[&id, &now]).await
}

pub(crate) async fn set_password(
    db: &impl GenericClient,
    id: Uuid,
    hash: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set encrypted_password = $2::text, updated_at = $3 where id = $1";
    run(db, SQL, &[&id, &hash, &now]).await
}

/// A changed password makes pending links and codes worthless.
pub(crate) async fn clear_tokens_after_password(
    db: &impl GenericClient,
    id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/clear_tokens_after_password.sql");
    run(db, SQL, &[&id, &now]).await
}

/// Merges into the user's own metadata; a null removes the key.
pub(crate) async fn merge_user_metadata(
    db: &impl GenericClient,
    id: Uuid,
    data: &Value,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set raw_user_meta_data = \
                       (coalesce(raw_user_meta_data, '{}') || $2) - $3::text[], updated_at = $4 where id = $1";
    run(db, SQL, &[&id, data, &null_keys(data), &now]).await
}

/// Merges into the metadata that only admins change; a null removes the key.
pub(crate) async fn merge_app_metadata(
    db: &impl GenericClient,
    id: Uuid,
    data: &Value,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set raw_app_meta_data = \
                       (coalesce(raw_app_meta_data, '{}') || $2) - $3::text[], updated_at = $4 where id = $1";
    run(db, SQL, &[&id, data, &null_keys(data), &now]).await
}

fn null_keys(data: &Value) -> Vec<&str> {
    let members = data.as_object().into_iter().flatten();
    members
        .filter(|(_, value)| value.is_null())
        .map(|(key, _)| key.as_str())
        .collect()
}

pub(crate) async fn refresh_providers(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    run(db, include_str!("../../sql/refresh_providers.sql"), &[&id]).await
}

/// Remembers the address that the user wants, and which tokens confirm it. Without `token_current` only the new address is
/// asked.
pub(crate) async fn set_email_change(
    db: &impl GenericClient,
    id: Uuid,
    new_email: &str,
    token_new: &str,
    token_current: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set email_change = $2::text, email_change_token_new = $3::text, \
                       email_change_token_current = $4::text, email_change_confirm_status = 0, \
                       email_change_sent_at = $5, updated_at = $5 where id = $1";
    run(db, SQL, &[&id, &new_email, &token_new, &token_current, &now]).await
}

/// One of two addresses has agreed: its token is used up.
pub(crate) async fn confirm_first_half(
    db: &impl GenericClient,
    id: Uuid,
    is_new: bool,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set email_change_confirm_status = 1, \
                       email_change_token_new = case when $2::boolean then '' else email_change_token_new end, \
                       email_change_token_current = case when $2::boolean then email_change_token_current else '' end, \
                       updated_at = $3 where id = $1";
    run(db, SQL, &[&id, &is_new, &now]).await
}

/// The pending address becomes the user's, and that of its e-mail identity.
pub(crate) async fn change_email(
    db: &impl GenericClient,
    id: Uuid,
    email: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    execute(db, include_str!("../../sql/change_email.sql"), &[&id, &now]).await?;
    upsert_email_identity(db, id, email, true, now).await?;
    refresh_providers(db, id).await
}

/// Creates the e-mail identity, or corrects its address.
pub(crate) async fn upsert_email_identity(
    db: &impl GenericClient,
    id: Uuid,
    email: &str,
    is_verified: bool,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/upsert_email_identity.sql");
    run(db, SQL, &[&id, &email, &is_verified, &now]).await
}

/// An administrator's change of address: immediate.
pub(crate) async fn set_email(
    db: &impl GenericClient,
    id: Uuid,
    email: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str =
        "update auth.users set email = $2::text, is_anonymous = false, updated_at = $3 where id = $1";
    run(db, SQL, &[&id, &email, &now]).await
}

/// Bans until a time, or lifts the ban.
pub(crate) async fn set_ban(db: &impl GenericClient, id: Uuid, until: Option<DateTime<Utc>>) -> DbResult<()> {
    const SQL: &str = "update auth.users set banned_until = $2, updated_at = now() where id = $1";
    run(db, SQL, &[&id, &until]).await
}

pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    run(db, "delete from auth.users where id = $1", &[&id]).await
}

/// Empties the row and removes everything that could sign the user in.
pub(crate) async fn soft_delete(
    db: &impl GenericClient,
    id: Uuid,
    email: Option<&str>,
    phone: Option<&str>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    execute(
        db,
        include_str!("../../sql/soft_delete_user.sql"),
        &[&id, &email, &phone, &now],
    )
    .await?;
    for sql in [
        include_str!("../../sql/soft_delete_identities.sql"),
        "delete from auth.mfa_factors where user_id = $1",
        "delete from auth.sessions where user_id = $1",
        "delete from auth.one_time_tokens where user_id = $1",
    ] {
        execute(db, sql, &[&id]).await?;
    }
    Ok(())
}
