//! `auth.mfa_factors` and `auth.mfa_challenges`: second factors of users, and the challenges that verify them. Source:
//! Auth contract §2.12.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, find_row, list_rows, run_statement};

/// The types of second factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactorType {
    Totp,
    Phone,
    Webauthn,
    /// A set of recovery codes, which has endpoints of its own.
    RecoveryCode,
}

impl FactorType {
    /// Parses `factor_type` of a row.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "totp" => Self::Totp,
            "phone" => Self::Phone,
            "webauthn" => Self::Webauthn,
            "recovery_code" => Self::RecoveryCode,
            _ => return None,
        })
    }

    /// `factor_type` in responses and in the database.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Totp => "totp",
            Self::Phone => "phone",
            Self::Webauthn => "webauthn",
            Self::RecoveryCode => "recovery_code",
        }
    }

    /// `method` of the AMR entry that a session gets when this factor is verified.
    pub(crate) fn amr_method(self) -> &'static str {
        match self {
            Self::Totp => "totp",
            Self::Phone => "mfa/phone",
            Self::Webauthn => "mfa/webauthn",
            Self::RecoveryCode => "mfa/recovery_code",
        }
    }
}

/// A row of `auth.mfa_factors`.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    pub(crate) id: Uuid,
    pub(crate) kind: FactorType,
    pub(crate) is_verified: bool,
    /// Chosen by the user; empty when they chose none.
    pub(crate) friendly_name: String,
    /// The secret of a TOTP factor, in base 32; empty for other types.
    pub(crate) secret: String,
    /// The number that codes are sent to; empty for other types.
    pub(crate) phone: String,
    /// When the last challenge was created; limits how often codes are sent.
    pub(crate) last_challenged_at: Option<DateTime<Utc>>,
    /// The credential of a WebAuthn factor, as [`crate::crypto::webauthn::Credential`] in JSON.
    pub(crate) credential: Option<Value>,
}

/// The start of every query that [`Factor::from_row`] reads.
const COLUMNS: &str = "select id, factor_type::text as factor_type, status::text as status, \
                       coalesce(friendly_name, '') as friendly_name, coalesce(secret, '') as secret, \
                       coalesce(phone, '') as phone, last_challenged_at, web_authn_credential \
                       from auth.mfa_factors ";

impl Factor {
    fn from_row(row: &Row) -> DbResult<Self> {
        let kind: String = row.try_get("factor_type")?;
        Ok(Self {
            id: row.try_get("id")?,
            // The column is an enum of exactly these types, so the fallback is not reached.
            kind: FactorType::parse(&kind).unwrap_or(FactorType::Totp),
            is_verified: row.try_get::<_, String>("status")? == "verified",
            friendly_name: row.try_get("friendly_name")?,
            secret: row.try_get("secret")?,
            phone: row.try_get("phone")?,
            last_challenged_at: row.try_get("last_challenged_at")?,
            credential: row.try_get("web_authn_credential")?,
        })
    }

    /// `status` in responses: `verified` or `unverified`.
    pub(crate) fn status(&self) -> &'static str {
        if self.is_verified {
            "verified"
        } else {
            "unverified"
        }
    }
}

/// The columns of a new, unverified factor.
#[derive(Debug)]
pub(crate) struct NewFactor<'a> {
    pub(crate) id: Uuid,
    pub(crate) kind: FactorType,
    pub(crate) friendly_name: &'a str,
    /// In base 32; `Some` for TOTP.
    pub(crate) secret: Option<&'a str>,
    /// Digits without `+`; `Some` for the type `phone`.
    pub(crate) phone: Option<&'a str>,
}

/// Inserts an unverified factor.
///
/// # Errors
/// A unique violation when the user has a factor of this name, or with this phone number.
pub(crate) async fn insert(
    db: &impl GenericClient,
    user_id: Uuid,
    new: &NewFactor<'_>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "insert into auth.mfa_factors \
                       (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret, phone) values \
                       ($1, $2, $3::text, $4::text::auth.factor_type, 'unverified', $5, $5, coalesce($6::text, ''), $7::text)";
    let kind = new.kind.as_str();
    run_statement(
        db,
        SQL,
        &[
            &new.id,
            &user_id,
            &new.friendly_name,
            &kind,
            &now,
            &new.secret,
            &new.phone,
        ],
    )
    .await
}

/// Lists the factors of a user, oldest first.
pub(crate) async fn list_by_user(db: &impl GenericClient, user_id: Uuid) -> DbResult<Vec<Factor>> {
    let sql = format!("{COLUMNS} where user_id = $1 order by created_at, id");
    let rows = list_rows(db, &sql, &[&user_id]).await?;
    rows.iter().map(Factor::from_row).collect()
}

/// Finds a factor of a user; a factor of another user is not found.
pub(crate) async fn find_by_id(db: &impl GenericClient, user_id: Uuid, id: Uuid) -> DbResult<Option<Factor>> {
    let sql = format!("{COLUMNS} where user_id = $1 and id = $2");
    find_row(db, &sql, &[&user_id, &id])
        .await?
        .as_ref()
        .map(Factor::from_row)
        .transpose()
}

/// Deletes unverified factors that were created before `before` and have had no challenge since.
pub(crate) async fn delete_expired(
    db: &impl GenericClient,
    user_id: Uuid,
    before: DateTime<Utc>,
) -> DbResult<()> {
    run_statement(
        db,
        include_str!("../../sql/delete_expired_factors.sql"),
        &[&user_id, &before],
    )
    .await
}

/// Marks the factor as verified and deletes the user's other unverified factors of its type, which are abandoned
/// attempts. The first verified factor deletes those of all types: whoever knew the password may have enrolled them, and
/// could get around the factor by answering one later. `credential` is that of a WebAuthn factor, with its authenticator's
/// AAGUID.
pub(crate) async fn set_verified(
    db: &impl GenericClient,
    user_id: Uuid,
    factor: &Factor,
    credential: Option<(&Value, Uuid)>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.mfa_factors set status = 'verified', updated_at = $2, \
                       web_authn_credential = coalesce($3, web_authn_credential), \
                       web_authn_aaguid = coalesce($4, web_authn_aaguid) where id = $1";
    let (credential, aaguid) = credential.unzip();
    run_statement(db, SQL, &[&factor.id, &now, &credential, &aaguid]).await?;
    const DELETE_OTHERS: &str = "delete from auth.mfa_factors where user_id = $1 and id <> $2 and status = 'unverified' \
                          and (factor_type::text = $3::text or not exists (select from auth.mfa_factors \
                          where user_id = $1 and id <> $2 and status = 'verified'))";
    run_statement(db, DELETE_OTHERS, &[&user_id, &factor.id, &factor.kind.as_str()]).await
}

/// Records the last ceremony of a WebAuthn factor: the client's response as `data`, and the credential with its new
/// signature counter.
pub(crate) async fn set_last_ceremony(
    db: &impl GenericClient,
    id: Uuid,
    data: &Value,
    credential: &Value,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.mfa_factors set last_webauthn_challenge_data = $2, web_authn_credential = $3, \
                       updated_at = $4 where id = $1";
    run_statement(db, SQL, &[&id, data, credential, &now]).await
}

/// Changes name or phone of a factor; `None` leaves a column as it is.
pub(crate) async fn update(
    db: &impl GenericClient,
    id: Uuid,
    friendly_name: Option<&str>,
    phone: Option<&str>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.mfa_factors set friendly_name = coalesce($2::text, friendly_name), \
                       phone = coalesce($3::text, phone), updated_at = $4 where id = $1";
    run_statement(db, SQL, &[&id, &friendly_name, &phone, &now]).await
}

/// Deletes a factor; its challenges are deleted by their foreign key.
pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    run_statement(db, "delete from auth.mfa_factors where id = $1", &[&id]).await
}

/// The assurance level of a user's session, `aal1` or `aal2`; `None` when the session is gone. Until the transaction ends,
/// the session cannot be deleted.
pub(crate) async fn lock_session_level(
    db: &impl GenericClient,
    (user_id, session_id): (Uuid, Uuid),
) -> DbResult<Option<String>> {
    const SQL: &str =
        "select coalesce(aal::text, 'aal1') from auth.sessions where id = $1 and user_id = $2 for key share";
    let row = find_row(db, SQL, &[&session_id, &user_id]).await?;
    row.map(|row| row.try_get(0)).transpose()
}

/// Lowers the sessions that were verified with this factor to `aal1`.
pub(crate) async fn downgrade_sessions(db: &impl GenericClient, user_id: Uuid, id: Uuid) -> DbResult<()> {
    run_statement(db, DOWNGRADE, &[&user_id, &id, &None::<Uuid>]).await
}

/// Lowers the sessions that were verified with this factor to `aal1`, and leaves the session `kept` as it is.
pub(crate) async fn downgrade_other_sessions(
    db: &impl GenericClient,
    user_id: Uuid,
    id: Uuid,
    kept: Uuid,
) -> DbResult<()> {
    run_statement(db, DOWNGRADE, &[&user_id, &id, &Some(kept)]).await
}

const DOWNGRADE: &str = include_str!("../../sql/downgrade_sessions.sql");

/// Raises the session to `aal2` and deletes the user's sessions that are still at `aal1`. Somebody who knows only the
/// password could have opened those.
pub(crate) async fn upgrade_session(
    db: &impl GenericClient,
    (user_id, session_id): (Uuid, Uuid),
    factor: &Factor,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/verify_factor_session.sql");
    run_statement(
        db,
        SQL,
        &[&session_id, &factor.id, &factor.kind.amr_method(), &now],
    )
    .await?;
    // `aal` is an enum, which PostgreSQL compares in the order of its declaration: aal1 < aal2 < aal3.
    const DELETE_OTHERS: &str =
        "delete from auth.sessions where user_id = $1 and id <> $2 and coalesce(aal, 'aal1') < 'aal2'";
    run_statement(db, DELETE_OTHERS, &[&user_id, &session_id]).await
}

/// A row of `auth.mfa_challenges`.
#[derive(Debug, Clone)]
pub(crate) struct Challenge {
    pub(crate) id: Uuid,
    pub(crate) created_at: DateTime<Utc>,
    /// Whether the challenge was answered correctly before; it can be used once.
    pub(crate) is_used: bool,
    /// The address that asked for the challenge; only a request from there may answer it.
    pub(crate) ip: String,
    /// State of a WebAuthn ceremony; `None` for other types.
    pub(crate) ceremony: Option<Value>,
}

/// Inserts a challenge and records its time in the factor. The code that is sent with it is stored with
/// [`super::one_time_codes`].
pub(crate) async fn insert_challenge(
    db: &impl GenericClient,
    factor_id: Uuid,
    challenge: &Challenge,
) -> DbResult<()> {
    const SQL: &str = "insert into auth.mfa_challenges \
                       (id, factor_id, created_at, ip_address, web_authn_session_data) values \
                       ($1, $2, $3, $4::text::inet, $5)";
    let Challenge {
        id,
        created_at,
        ip,
        ceremony,
        ..
    } = challenge;
    run_statement(db, SQL, &[id, &factor_id, created_at, ip, ceremony]).await?;
    // Compat: GoTrue's schema declares `last_challenged_at` unique over all users. The clock of the database is read
    // again for each statement, while two requests may have the same `created_at`.
    const UPDATE_FACTOR: &str =
        "update auth.mfa_factors set last_challenged_at = clock_timestamp(), updated_at = $2 where id = $1";
    run_statement(db, UPDATE_FACTOR, &[&factor_id, created_at]).await
}

/// Finds a challenge of a factor; a challenge of another factor is not found.
pub(crate) async fn find_challenge(
    db: &impl GenericClient,
    factor_id: Uuid,
    id: Uuid,
) -> DbResult<Option<Challenge>> {
    // `host()` leaves out the netmask, so that the result equals the address of a request.
    const SQL: &str = "select id, created_at, verified_at is not null as is_used, host(ip_address) as ip, \
                       web_authn_session_data \
                       from auth.mfa_challenges where factor_id = $1 and id = $2";
    let Some(row) = find_row(db, SQL, &[&factor_id, &id]).await? else {
        return Ok(None);
    };
    Ok(Some(Challenge {
        id: row.try_get("id")?,
        created_at: row.try_get("created_at")?,
        is_used: row.try_get("is_used")?,
        ip: row.try_get("ip")?,
        ceremony: row.try_get("web_authn_session_data")?,
    }))
}

/// Marks a challenge as used; returns false when it was used before. Of two concurrent requests, the row lock of the
/// UPDATE lets only one succeed.
pub(crate) async fn mark_challenge_used(
    db: &impl GenericClient,
    id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<bool> {
    const SQL: &str =
        "update auth.mfa_challenges set verified_at = $2 where id = $1 and verified_at is null returning id";
    Ok(find_row(db, SQL, &[&id, &now]).await?.is_some())
}

/// Deletes a challenge that has expired.
pub(crate) async fn delete_challenge(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    run_statement(db, "delete from auth.mfa_challenges where id = $1", &[&id]).await
}
