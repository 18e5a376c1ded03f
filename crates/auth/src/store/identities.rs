//! `auth.identities` of providers. Those of e-mail and phone belong to `users`.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, execute, find, list};
use crate::machine::linking::Known;

/// An identity as stored.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) id: Uuid,
    pub(crate) user_id: Uuid,
    pub(crate) provider: String,
    pub(crate) provider_id: String,
    /// Lowercase; empty without one.
    pub(crate) email: String,
    pub(crate) is_email_verified: bool,
}

impl Identity {
    fn from_row(row: &Row) -> DbResult<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            user_id: row.try_get("user_id")?,
            provider: row.try_get("provider")?,
            provider_id: row.try_get("provider_id")?,
            email: row.try_get("email")?,
            is_email_verified: row.try_get("is_email_verified")?,
        })
    }
}

/// The identity by which a provider knows somebody.
pub(crate) async fn find_by_subject(
    db: &impl GenericClient,
    provider: &str,
    subject: &str,
) -> DbResult<Option<Identity>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_identity.sql"),
        "where provider = $1::text and provider_id = $2::text"
    );
    find(db, SQL, &[&provider, &subject])
        .await?
        .as_ref()
        .map(Identity::from_row)
        .transpose()
}

/// A user's identities, the best owner of the user's address first: proven addresses, then others, then none; oldest first.
pub(crate) async fn list_of_user(db: &impl GenericClient, user_id: Uuid) -> DbResult<Vec<Identity>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_identity.sql"),
        "where user_id = $1 order by case when coalesce(email, '') = '' then 2 ",
        "when (identity_data ->> 'email_verified') = 'true' then 0 else 1 end, created_at, id"
    );
    list(db, SQL, &[&user_id])
        .await?
        .iter()
        .map(Identity::from_row)
        .collect()
}

/// What is known about somebody who comes from a provider.
pub(crate) async fn find_known(
    db: &impl GenericClient,
    provider: &str,
    subject: &str,
    proven_emails: &[String],
    address: &str,
    aud: &str,
) -> DbResult<Known> {
    const SQL: &str = include_str!("../../sql/find_known_person.sql");
    let row = find(db, SQL, &[&provider, &subject, &proven_emails, &address, &aud]).await?;
    let Some(row) = row else {
        return Ok(Known::default());
    };
    Ok(Known {
        owner: row.try_get("owner")?,
        identity_owners: row.try_get("identity_owners")?,
        users: row.try_get("users")?,
        is_address_taken: row.try_get("is_address_taken")?,
    })
}

/// Adds an identity; its id.
pub(crate) async fn insert(
    db: &impl GenericClient,
    user_id: Uuid,
    (provider, subject): (&str, &str),
    data: &Value,
    now: DateTime<Utc>,
) -> DbResult<Uuid> {
    let id = Uuid::new_v4();
    const SQL: &str = "insert into auth.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, \
                       created_at, updated_at) values ($1, $2::text, $3, $4, $5::text, $6, $6, $6)";
    execute(db, SQL, &[&id, &subject, &user_id, data, &provider, &now]).await?;
    Ok(id)
}

/// Notes what the provider says today.
pub(crate) async fn renew(
    db: &impl GenericClient,
    id: Uuid,
    data: &Value,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str =
        "update auth.identities set identity_data = $2, last_sign_in_at = $3, updated_at = $3 where id = $1";
    execute(db, SQL, &[&id, data, &now]).await.map(|_| ())
}

pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    execute(db, "delete from auth.identities where id = $1", &[&id])
        .await
        .map(|_| ())
}

/// Takes from an unproven account everything that whoever made it could use: password, other identities, sessions, tokens,
/// and what they wrote into the metadata.
pub(crate) async fn take_over(
    db: &impl GenericClient,
    user_id: Uuid,
    kept: Uuid,
    data: &Value,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.users set encrypted_password = null, raw_user_meta_data = $2, \
                       confirmation_token = '', recovery_token = '', email_change = '', email_change_token_new = '', \
                       email_change_token_current = '', phone_change = '', phone_change_token = '', updated_at = $3 \
                       where id = $1";
    execute(db, SQL, &[&user_id, data, &now]).await?;
    const OTHERS: &str = "delete from auth.identities where user_id = $1 and id <> $2";
    execute(db, OTHERS, &[&user_id, &kept]).await?;
    for sql in [
        "delete from auth.one_time_tokens where user_id = $1",
        "delete from auth.sessions where user_id = $1",
    ] {
        execute(db, sql, &[&user_id]).await?;
    }
    Ok(())
}

/// Replaces the user's address by that of another identity, and makes what was pending for the old one worthless.
pub(crate) async fn move_email(
    db: &impl GenericClient,
    user_id: Uuid,
    email: &str,
    is_confirmed: bool,
    now: DateTime<Utc>,
) -> DbResult<()> {
    execute(
        db,
        include_str!("../../sql/move_email.sql"),
        &[&user_id, &email, &is_confirmed, &now],
    )
    .await?;
    execute(
        db,
        "delete from auth.one_time_tokens where user_id = $1",
        &[&user_id],
    )
    .await
    .map(|_| ())
}

/// Forgets the user's phone, with its identity.
pub(crate) async fn clear_phone(db: &impl GenericClient, user_id: Uuid, now: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str =
        "update auth.users set phone = null, phone_confirmed_at = null, updated_at = $2 where id = $1";
    execute(db, SQL, &[&user_id, &now]).await.map(|_| ())
}

/// An anonymous user who has an identity is anonymous no more.
pub(crate) async fn end_anonymity(
    db: &impl GenericClient,
    user_id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str =
        "update auth.users set is_anonymous = false, updated_at = $2 where id = $1 and is_anonymous";
    execute(db, SQL, &[&user_id, &now]).await.map(|_| ())
}
