//! Phone numbers in `auth.users`, and the identities of the provider `phone`. Numbers are stored as digits without `+`.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::users::{find_user, refresh_providers};
use super::{DbResult, execute_statement, find_row, list_rows, run_statement};
use crate::user::User;

/// Finds the user of a number. `instance_id` may be null in rows that were inserted by hand. Source: AUTH-089.
pub(crate) async fn find_by_phone(db: &impl GenericClient, phone: &str, aud: &str) -> DbResult<Option<User>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_user.sql"),
        "where (u.instance_id = '00000000-0000-0000-0000-000000000000' or u.instance_id is null) ",
        "and u.phone = $1::text and u.aud = $2::text and u.is_sso_user = false limit 1",
    );
    find_user(db, SQL, &[&phone, &aud]).await
}

/// Like [`find_by_phone`], but not an account in use that has not proven the number: whoever proves it gets an account of their
/// own.
pub(crate) async fn find_registered(
    db: &impl GenericClient,
    phone: &str,
    aud: &str,
) -> DbResult<Option<User>> {
    let found = find_by_phone(db, phone, aud).await?;
    Ok(found.filter(|user| !user.only_claims_phone()))
}

/// Lists users who have asked since `since` to change to this number and have not confirmed it yet, the latest first; two at
/// most.
pub(crate) async fn list_by_phone_change(
    db: &impl GenericClient,
    phone: &str,
    aud: &str,
    since: DateTime<Utc>,
) -> DbResult<Vec<User>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_user.sql"),
        "where u.phone_change = $1::text and u.aud = $2::text and u.is_sso_user = false ",
        "and u.phone_change_sent_at >= $3 order by u.phone_change_sent_at desc limit 2",
    );
    let rows = list_rows(db, SQL, &[&phone, &aud, &since]).await?;
    rows.iter().map(User::from_row).collect()
}

/// Takes a number from an account in use that only claims it (see [`User::only_claims_phone`]), for a new account of `owner`. Returns
/// whether there was one.
pub(crate) async fn release_claimed_phone(
    db: &impl GenericClient,
    phone: &str,
    owner: Uuid,
) -> DbResult<bool> {
    const SQL: &str = include_str!("../../sql/release_phone.sql");
    Ok(execute_statement(db, SQL, &[&phone, &owner, &true]).await? > 0)
}

/// Takes a number from every other account that has it unconfirmed, because `owner` has proven it.
async fn release_phone(db: &impl GenericClient, phone: &str, owner: Uuid) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/release_phone.sql");
    execute_statement(db, SQL, &[&phone, &owner, &false])
        .await
        .map(|_| ())
}

/// Whether a user other than `except` has confirmed this number. An unconfirmed number is not taken: whoever proves it gets it.
pub(crate) async fn is_phone_taken(
    db: &impl GenericClient,
    phone: &str,
    aud: &str,
    except: Uuid,
) -> DbResult<bool> {
    const SQL: &str = "select 1 from auth.users where phone = $1::text and phone_confirmed_at is not null and aud = $2::text and id <> $3 limit 1";
    Ok(find_row(db, SQL, &[&phone, &aud, &except]).await?.is_some())
}

/// Sets the number without a confirmation, for an administrator; an empty one removes it.
pub(crate) async fn set_phone(
    db: &impl GenericClient,
    id: Uuid,
    phone: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    // Codes that were sent to the number before must not confirm the new one.
    super::one_time_tokens::clear_all_tokens(db, id, now).await?;
    release_phone(db, phone, id).await?;
    // `phone` is unique, and only null may occur more than once.
    const SQL: &str = "update auth.users set phone = nullif($2::text, ''), updated_at = $3 where id = $1";
    run_statement(db, SQL, &[&id, &phone, &now]).await
}

/// Stores the number that the user wants to change to, and the hash of the code that confirms it.
pub(crate) async fn set_phone_change(
    db: &impl GenericClient,
    id: Uuid,
    phone: &str,
    hash: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set phone_change = $2::text, phone_change_token = $3::text, \
                       phone_change_sent_at = $4, updated_at = $4 where id = $1";
    run_statement(db, SQL, &[&id, &phone, &hash, &now]).await
}

/// Marks a number as confirmed; an anonymous user becomes permanent. Returns false when the user has another number by
/// now.
pub(crate) async fn confirm_phone(
    db: &impl GenericClient,
    id: Uuid,
    phone: &str,
    now: DateTime<Utc>,
) -> DbResult<bool> {
    let rows = execute_statement(
        db,
        include_str!("../../sql/confirm_phone.sql"),
        &[&id, &now, &phone],
    )
    .await?;
    Ok(rows > 0)
}

/// Makes `phone` the user's number, also in the phone identity. Accounts that have it unconfirmed lose it.
pub(crate) async fn change_phone(
    db: &impl GenericClient,
    id: Uuid,
    phone: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    release_phone(db, phone, id).await?;
    run_statement(
        db,
        include_str!("../../sql/change_phone.sql"),
        &[&id, &now, &phone],
    )
    .await?;
    upsert_identity(db, id, phone, true, now).await
}

/// Inserts the phone identity or updates its number, and lists it in `app_metadata.providers`.
pub(crate) async fn upsert_identity(
    db: &impl GenericClient,
    id: Uuid,
    phone: &str,
    is_verified: bool,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/upsert_phone_identity.sql");
    run_statement(db, SQL, &[&id, &phone, &is_verified, &now]).await?;
    refresh_providers(db, id).await
}
