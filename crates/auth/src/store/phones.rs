//! Phone numbers of `auth.users`, and the identities that go with them.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::users::{find_user, refresh_providers};
use super::{DbResult, find, run};
use crate::user::User;

/// The user of this number (digits only). Rows of other tools may lack the instance.
pub(crate) async fn find_by_phone(db: &impl GenericClient, phone: &str, aud: &str) -> DbResult<Option<User>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_user.sql"),
        "where (u.instance_id = '00000000-0000-0000-0000-000000000000' or u.instance_id is null) ",
        "and u.phone = $1::text and u.aud = $2::text and u.is_sso_user = false limit 1",
    );
    find_user(db, SQL, &[&phone, &aud]).await
}

/// Who has asked for this number, and not confirmed it yet.
pub(crate) async fn find_by_phone_change(
    db: &impl GenericClient,
    phone: &str,
    aud: &str,
) -> DbResult<Option<User>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_user.sql"),
        "where u.phone_change = $1::text and u.aud = $2::text and u.is_sso_user = false ",
        "order by u.phone_change_sent_at desc nulls last limit 1",
    );
    find_user(db, SQL, &[&phone, &aud]).await
}

/// Whether a user other than `except` has this number.
pub(crate) async fn is_taken(
    db: &impl GenericClient,
    phone: &str,
    aud: &str,
    except: Uuid,
) -> DbResult<bool> {
    const SQL: &str =
        "select 1 from auth.users where phone = $1::text and aud = $2::text and id <> $3 limit 1";
    Ok(find(db, SQL, &[&phone, &aud, &except]).await?.is_some())
}

/// An administrator's change of number: immediate.
pub(crate) async fn set(db: &impl GenericClient, id: Uuid, phone: &str, now: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str = "update auth.users set phone = nullif($2::text, ''), updated_at = $3 where id = $1";
    run(db, SQL, &[&id, &phone, &now]).await
}

/// Remembers the number that the user wants, and which code confirms it.
pub(crate) async fn set_change(
    db: &impl GenericClient,
    id: Uuid,
    phone: &str,
    hash: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set phone_change = $2::text, phone_change_token = $3::text, \
                       phone_change_sent_at = $4, updated_at = $4 where id = $1";
    run(db, SQL, &[&id, &phone, &hash, &now]).await
}

/// The number is proven.
pub(crate) async fn confirm(db: &impl GenericClient, id: Uuid, now: DateTime<Utc>) -> DbResult<()> {
    run(db, include_str!("../../sql/confirm_phone.sql"), &[&id, &now]).await
}

/// The pending number becomes the number; the identity follows.
pub(crate) async fn change(
    db: &impl GenericClient,
    id: Uuid,
    phone: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    run(db, include_str!("../../sql/change_phone.sql"), &[&id, &now]).await?;
    upsert_identity(db, id, phone, true, now).await
}

/// Creates the phone identity, or corrects its number.
pub(crate) async fn upsert_identity(
    db: &impl GenericClient,
    id: Uuid,
    phone: &str,
    is_verified: bool,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/upsert_phone_identity.sql");
    run(db, SQL, &[&id, &phone, &is_verified, &now]).await?;
    refresh_providers(db, id).await
}
