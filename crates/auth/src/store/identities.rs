//! `auth.identities` of external providers, and what linking and unlinking changes in `auth.users`. The identities of
//! e-mail addresses and phone numbers are written by [`super::users`] and [`super::phones`].
//!
//! Source: Auth contract §2.10, §8.2.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use super::contested_accounts::{self, Forgotten};
use super::user_access::{self, AccessEnd};
use super::{DbResult, execute_statement, find_row, list_rows};
use crate::user::STORED_PROOFS_ARE_NONE;

/// The users that a sign-in by a provider may belong to.
#[derive(Debug, Clone, Default)]
pub(crate) struct LinkCandidates {
    /// Owner of exactly this identity.
    pub(crate) owner: Option<Uuid>,
    /// Whether nobody has proven to own the owner's account: no address is confirmed, and nobody has signed in.
    pub(crate) is_owner_unproven: bool,
    /// Users who have confirmed one of the verified addresses, without SSO.
    pub(crate) users: Vec<Uuid>,
    /// Owners of identities in which a provider has verified one of the verified addresses, without SSO.
    pub(crate) identity_owners: Vec<Uuid>,
    /// Accounts that nobody has proven to own, with the address that a new account would get, if it is verified.
    pub(crate) unproven: Vec<Uuid>,
    /// Whether an account has the address that a new account would get, or has proven it at a provider.
    pub(crate) is_address_taken: bool,
}

/// A row of `auth.identities`.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) id: Uuid,
    pub(crate) user_id: Uuid,
    pub(crate) provider: String,
    /// The user's id at the provider.
    pub(crate) provider_id: String,
    /// A generated column, in lowercase; empty when the provider returned no address.
    pub(crate) email: String,
    /// `email_verified` of `identity_data`.
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

/// Finds an identity by the user's id at the provider; the pair is unique.
pub(crate) async fn find_by_subject(
    db: &impl GenericClient,
    provider: &str,
    subject: &str,
) -> DbResult<Option<Identity>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_identity.sql"),
        "where provider = $1::text and provider_id = $2::text"
    );
    find_row(db, SQL, &[&provider, &subject])
        .await?
        .as_ref()
        .map(Identity::from_row)
        .transpose()
}

/// Lists a user's identities in the order in which they may supply the account's address: those with a verified
/// address, an unverified one, none; the oldest first.
pub(crate) async fn list_by_user(db: &impl GenericClient, user_id: Uuid) -> DbResult<Vec<Identity>> {
    const SQL: &str = concat!(
        include_str!("../../sql/select_identity.sql"),
        "where user_id = $1 order by case when coalesce(email, '') = '' then 2 ",
        "when (identity_data ->> 'email_verified') = 'true' then 0 else 1 end, created_at, id"
    );
    list_rows(db, SQL, &[&user_id])
        .await?
        .iter()
        .map(Identity::from_row)
        .collect()
}

/// What is known about the person whose accounts are looked for. Addresses are in lowercase.
pub(crate) struct LinkSearch<'a> {
    pub(crate) provider: &'a str,
    /// The person's id at the provider.
    pub(crate) subject: &'a str,
    /// The addresses that the provider has verified.
    pub(crate) verified_emails: &'a [String],
    /// The address that a new account would get; empty for none.
    pub(crate) address: &'a str,
    pub(crate) aud: &'a str,
}

/// Finds the accounts that a sign-in with a provider may belong to. Nothing is locked, so the caller must expect unique
/// violations.
pub(crate) async fn find_link_candidates(
    db: &impl GenericClient,
    search: &LinkSearch<'_>,
) -> DbResult<LinkCandidates> {
    const SQL: &str = include_str!("../../sql/find_link_candidates.sql");
    let params: super::Params<'_> = &[
        &search.provider,
        &search.subject,
        &search.verified_emails,
        &search.address,
        &search.aud,
        &STORED_PROOFS_ARE_NONE.as_slice(),
    ];
    let row = find_row(db, SQL, params).await?;
    let Some(row) = row else {
        return Ok(LinkCandidates::default());
    };
    Ok(LinkCandidates {
        owner: row.try_get("owner")?,
        is_owner_unproven: row.try_get("is_owner_unproven")?,
        unproven: row.try_get("unproven")?,
        identity_owners: row.try_get("identity_owners")?,
        users: row.try_get("users")?,
        is_address_taken: row.try_get("is_address_taken")?,
    })
}

/// Inserts an identity; returns its id.
///
/// # Errors
/// A unique violation when the identity exists, also if a concurrent request has just inserted it.
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
    execute_statement(db, SQL, &[&id, &subject, &user_id, data, &provider, &now]).await?;
    Ok(id)
}

/// Replaces `identity_data` by the profile that the provider returned at this sign-in.
pub(crate) async fn update_data(
    db: &impl GenericClient,
    id: Uuid,
    data: &Value,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str =
        "update auth.identities set identity_data = $2, last_sign_in_at = $3, updated_at = $3 where id = $1";
    execute_statement(db, SQL, &[&id, data, &now]).await.map(|_| ())
}

/// Notes that a sign-in has made an account without a proof of the address.
pub(crate) async fn note_unproven_sign_in(
    db: &impl GenericClient,
    user_id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str =
        "insert into _selvedge.selvedge_unproven_sign_ins (user_id, created_at) values ($1, $2)";
    execute_statement(db, SQL, &[&user_id, &now]).await.map(|_| ())
}

/// Removes the note of [`note_unproven_sign_in`]; returns whether there was one.
pub(crate) async fn take_unproven_sign_in(db: &impl GenericClient, user_id: Uuid) -> DbResult<bool> {
    const SQL: &str = "delete from _selvedge.selvedge_unproven_sign_ins where user_id = $1";
    Ok(execute_statement(db, SQL, &[&user_id]).await? > 0)
}

/// Deletes an identity; the caller then calls [`super::users::refresh_providers`].
pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    execute_statement(db, "delete from auth.identities where id = $1", &[&id])
        .await
        .map(|_| ())
}

/// Removes what the person who registered an unverified address may have added to the account: the password, unless an
/// administrator has set it, other identities, and all that [`user_access::end`] ends: sessions, codes, flows, second factors,
/// passkeys. Only the identity `kept` stays, and `data` replaces the user's metadata. Returns what was forgotten.
///
/// Without it, somebody could register another person's address in advance and keep access to the account after the
/// owner of the address has signed in. Source: AUTH-041.
pub(crate) async fn reset_unverified_user(
    db: &impl GenericClient,
    user_id: Uuid,
    kept: Uuid,
    data: &Value,
    now: DateTime<Utc>,
) -> DbResult<Forgotten> {
    let password = contested_accounts::forget_password(db, user_id, now).await?;
    const SQL: &str = "update auth.users set raw_user_meta_data = $2, \
                       confirmation_token = '', recovery_token = '', email_change = '', email_change_token_new = '', \
                       email_change_token_current = '', phone_change = '', phone_change_token = '', updated_at = $3 \
                       where id = $1";
    execute_statement(db, SQL, &[&user_id, data, &now]).await?;
    // The e-mail identity only repeats the address.
    const DELETE_OTHERS: &str = "delete from auth.identities where user_id = $1 and id <> $2 returning provider in ('email', 'phone')";
    let deleted = list_rows(db, DELETE_OTHERS, &[&user_id, &kept]).await?;
    let mut identities = false;
    for row in deleted {
        identities |= !row.try_get::<_, bool>(0)?;
    }
    user_access::end(db, user_id, AccessEnd::AccountGone, now).await?;
    Ok(Forgotten { password, identities })
}

/// Makes the address of another identity the user's address, and invalidates tokens that were sent to the old one. An
/// empty `email` leaves the account without an address.
///
/// # Errors
/// A unique violation when another user has the address.
pub(crate) async fn set_email_from_identity(
    db: &impl GenericClient,
    user_id: Uuid,
    email: &str,
    is_confirmed: bool,
    now: DateTime<Utc>,
) -> DbResult<()> {
    if is_confirmed {
        super::users::release_email(db, email, user_id).await?;
    }
    execute_statement(
        db,
        include_str!("../../sql/move_email.sql"),
        &[&user_id, &email, &is_confirmed, &now],
    )
    .await?;
    execute_statement(
        db,
        "delete from auth.one_time_tokens where user_id = $1",
        &[&user_id],
    )
    .await
    .map(|_| ())
}

/// Removes the number from the user's row, after its identity was unlinked.
pub(crate) async fn clear_phone(db: &impl GenericClient, user_id: Uuid, now: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str =
        "update auth.users set phone = null, phone_confirmed_at = null, updated_at = $2 where id = $1";
    execute_statement(db, SQL, &[&user_id, &now]).await.map(|_| ())
}

/// Makes an anonymous user permanent, after an identity was linked.
pub(crate) async fn make_permanent(
    db: &impl GenericClient,
    user_id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str =
        "update auth.users set is_anonymous = false, updated_at = $2 where id = $1 and is_anonymous";
    execute_statement(db, SQL, &[&user_id, &now]).await.map(|_| ())
}
