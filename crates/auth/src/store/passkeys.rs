//! `auth.webauthn_credentials` and `auth.webauthn_challenges`: passkeys, and the state of unfinished WebAuthn
//! ceremonies.
//!
//! Source: Auth contract §2.13.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::{Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, find_row, list_rows, run_statement};
use crate::crypto::webauthn::Credential;

/// A row of `auth.webauthn_credentials`.
#[derive(Debug, Clone)]
pub(crate) struct Passkey {
    pub(crate) id: Uuid,
    pub(crate) user_id: Uuid,
    /// Public key, signature counter and properties of the authenticator's key pair.
    pub(crate) credential: Credential,
    /// Chosen by the user, or at first the name of the authenticator's model; may be empty.
    pub(crate) friendly_name: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) last_used_at: Option<DateTime<Utc>>,
}

impl Passkey {
    fn from_row(row: &Row) -> DbResult<Self> {
        let transports: Value = row.try_get("transports")?;
        let sign_count: i64 = row.try_get("sign_count")?;
        Ok(Self {
            id: row.try_get("id")?,
            user_id: row.try_get("user_id")?,
            credential: Credential {
                id: row.try_get("credential_id")?,
                public_key: row.try_get("public_key")?,
                // WebAuthn counters have 32 bits. A larger value can only come from another tool; the maximum then
                // rejects every assertion.
                sign_count: u32::try_from(sign_count).unwrap_or(u32::MAX),
                aaguid: row.try_get::<_, Option<Uuid>>("aaguid")?.unwrap_or_default(),
                // Transports are only a hint for browsers, so an unreadable list is not an error.
                transports: serde_json::from_value(transports).unwrap_or_default(),
                backup_eligible: row.try_get("backup_eligible")?,
                backed_up: row.try_get("backed_up")?,
            },
            friendly_name: row.try_get("friendly_name")?,
            created_at: row.try_get("created_at")?,
            last_used_at: row.try_get("last_used_at")?,
        })
    }
}

/// Inserts a passkey.
///
/// # Errors
/// A unique violation when the credential is registered already, for this user or another.
pub(crate) async fn insert(db: &impl GenericClient, passkey: &Passkey) -> DbResult<()> {
    // No attestation is requested, so its type is `none` for all passkeys.
    const SQL: &str = "insert into auth.webauthn_credentials (id, user_id, credential_id, public_key, \
                       attestation_type, aaguid, sign_count, transports, backup_eligible, backed_up, friendly_name, \
                       created_at, updated_at) values ($1, $2, $3, $4, 'none', $5, $6, $7, $8, $9, $10::text, $11, $11)";
    let credential = &passkey.credential;
    run_statement(
        db,
        SQL,
        &[
            &passkey.id,
            &passkey.user_id,
            &credential.id,
            &credential.public_key,
            &credential.aaguid,
            &i64::from(credential.sign_count),
            &json!(credential.transports),
            &credential.backup_eligible,
            &credential.backed_up,
            &passkey.friendly_name,
            &passkey.created_at,
        ],
    )
    .await
}

/// Lists the passkeys of a user, oldest first.
pub(crate) async fn list_by_user(db: &impl GenericClient, user_id: Uuid) -> DbResult<Vec<Passkey>> {
    const SQL: &str = "select * from auth.webauthn_credentials where user_id = $1 order by created_at, id";
    let rows = list_rows(db, SQL, &[&user_id]).await?;
    rows.iter().map(Passkey::from_row).collect()
}

/// Finds the passkey of a credential and locks its row, so that two requests cannot use the same value of the signature
/// counter.
pub(crate) async fn lock_by_credential(db: &impl GenericClient, id: &[u8]) -> DbResult<Option<Passkey>> {
    const SQL: &str = "select * from auth.webauthn_credentials where credential_id = $1 for update";
    find_row(db, SQL, &[&id])
        .await?
        .as_ref()
        .map(Passkey::from_row)
        .transpose()
}

/// Records a sign-in: its time, the credential's new signature counter, and whether it is backed up.
pub(crate) async fn record_use(
    db: &impl GenericClient,
    id: Uuid,
    credential: &Credential,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.webauthn_credentials set sign_count = $2, backed_up = $3, last_used_at = $4, \
                       updated_at = $4 where id = $1";
    run_statement(
        db,
        SQL,
        &[
            &id,
            &i64::from(credential.sign_count),
            &credential.backed_up,
            &now,
        ],
    )
    .await
}

/// Renames a user's passkey and returns it; `None` when this user has no such passkey.
pub(crate) async fn rename(
    db: &impl GenericClient,
    user_id: Uuid,
    id: Uuid,
    name: &str,
    now: DateTime<Utc>,
) -> DbResult<Option<Passkey>> {
    const SQL: &str = "update auth.webauthn_credentials set friendly_name = $3::text, updated_at = $4 \
                       where user_id = $1 and id = $2 returning *";
    find_row(db, SQL, &[&user_id, &id, &name, &now])
        .await?
        .as_ref()
        .map(Passkey::from_row)
        .transpose()
}

/// Deletes a user's passkey; false when this user has no such passkey.
pub(crate) async fn delete(db: &impl GenericClient, user_id: Uuid, id: Uuid) -> DbResult<bool> {
    const SQL: &str = "delete from auth.webauthn_credentials where user_id = $1 and id = $2 returning id";
    Ok(find_row(db, SQL, &[&user_id, &id]).await?.is_some())
}

/// Stores a ceremony until the browser responds; returns its id. `user_id` is `None` for a sign-in, where the user is
/// not known yet.
pub(crate) async fn insert_challenge(
    db: &impl GenericClient,
    user_id: Option<Uuid>,
    ceremony: &Value,
    now: DateTime<Utc>,
    expires_at: DateTime<Utc>,
) -> DbResult<Uuid> {
    const SQL: &str = "insert into auth.webauthn_challenges \
                       (id, user_id, challenge_type, session_data, created_at, expires_at) \
                       values ($1, $2, $3::text, $4, $5, $6)";
    let id = Uuid::new_v4();
    let kind = challenge_type(user_id);
    run_statement(db, SQL, &[&id, &user_id, &kind, ceremony, &now, &expires_at]).await?;
    Ok(id)
}

/// Deletes a ceremony and returns its state and expiry. The DELETE makes sure that a ceremony is used once, even by
/// concurrent requests.
pub(crate) async fn take_challenge(
    db: &impl GenericClient,
    user_id: Option<Uuid>,
    id: Uuid,
) -> DbResult<Option<(Value, DateTime<Utc>)>> {
    // `is not distinct from` also matches null with null. A registration can only be finished by the user who started
    // it.
    const SQL: &str = "delete from auth.webauthn_challenges where id = $1 and user_id is not distinct from $2 \
                       and challenge_type = $3::text returning session_data, expires_at";
    let row = find_row(db, SQL, &[&id, &user_id, &challenge_type(user_id)]).await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
}

/// `challenge_type` of a ceremony: only a registration has a signed-in user.
fn challenge_type(user_id: Option<Uuid>) -> &'static str {
    if user_id.is_some() {
        "registration"
    } else {
        "authentication"
    }
}
