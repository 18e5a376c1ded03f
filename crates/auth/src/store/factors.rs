//! `auth.mfa_factors` and `auth.mfa_challenges`.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, find, list, run};

/// The kinds of second factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactorType {
    Totp,
    Phone,
    Webauthn,
}

impl FactorType {
    /// Reads the name on the wire.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "totp" => Self::Totp,
            "phone" => Self::Phone,
            "webauthn" => Self::Webauthn,
            _ => return None,
        })
    }

    /// The name on the wire and in the database.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Totp => "totp",
            Self::Phone => "phone",
            Self::Webauthn => "webauthn",
        }
    }

    /// What a session's proof of it is called.
    pub(crate) fn amr_method(self) -> &'static str {
        match self {
            Self::Totp => "totp",
            Self::Phone => "mfa/phone",
            Self::Webauthn => "mfa/webauthn",
        }
    }
}

/// A second factor as stored.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    pub(crate) id: Uuid,
    pub(crate) kind: FactorType,
    pub(crate) is_verified: bool,
    pub(crate) friendly_name: String,
    /// The key of a TOTP factor, in base 32.
    pub(crate) secret: String,
    pub(crate) phone: String,
    pub(crate) last_challenged_at: Option<DateTime<Utc>>,
    /// The credential of a WebAuthn factor.
    pub(crate) credential: Option<Value>,
}

const COLUMNS: &str = "select id, factor_type::text as factor_type, status::text as status, \
                       coalesce(friendly_name, '') as friendly_name, coalesce(secret, '') as secret, \
                       coalesce(phone, '') as phone, last_challenged_at, web_authn_credential \
                       from auth.mfa_factors ";

impl Factor {
    fn from_row(row: &Row) -> DbResult<Self> {
        let kind: String = row.try_get("factor_type")?;
        Ok(Self {
            id: row.try_get("id")?,
            kind: FactorType::parse(&kind).unwrap_or(FactorType::Totp),
            is_verified: row.try_get::<_, String>("status")? == "verified",
            friendly_name: row.try_get("friendly_name")?,
            secret: row.try_get("secret")?,
            phone: row.try_get("phone")?,
            last_challenged_at: row.try_get("last_challenged_at")?,
            credential: row.try_get("web_authn_credential")?,
        })
    }

    /// The status on the wire.
    pub(crate) fn status(&self) -> &'static str {
        if self.is_verified {
            "verified"
        } else {
            "unverified"
        }
    }
}

/// A factor to be added.
#[derive(Debug)]
pub(crate) struct NewFactor<'a> {
    pub(crate) id: Uuid,
    pub(crate) kind: FactorType,
    pub(crate) friendly_name: &'a str,
    pub(crate) secret: Option<&'a str>,
    pub(crate) phone: Option<&'a str>,
}

pub(crate) async fn insert(
    db: &impl GenericClient,
    user_id: Uuid,
    new: &NewFactor<'_>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "insert into auth.mfa_factors \
                       (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret, phone) values \
                       ($1, $2, $3::text, $4::text::auth.factor_type, 'unverified', $5, $5, $6::text, $7::text)";
    let kind = new.kind.as_str();
    run(
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

/// All factors of a user, oldest first.
pub(crate) async fn list_of_user(db: &impl GenericClient, user_id: Uuid) -> DbResult<Vec<Factor>> {
    let sql = format!("{COLUMNS} where user_id = $1 order by created_at, id");
    let rows = list(db, &sql, &[&user_id]).await?;
    rows.iter().map(Factor::from_row).collect()
}

/// One factor of a user.
pub(crate) async fn find_by_id(db: &impl GenericClient, user_id: Uuid, id: Uuid) -> DbResult<Option<Factor>> {
    let sql = format!("{COLUMNS} where user_id = $1 and id = $2");
    find(db, &sql, &[&user_id, &id])
        .await?
        .as_ref()
        .map(Factor::from_row)
        .transpose()
}

/// Unverified factors without a recent challenge go.
pub(crate) async fn delete_expired(
    db: &impl GenericClient,
    user_id: Uuid,
    before: DateTime<Utc>,
) -> DbResult<()> {
    run(
        db,
        include_str!("../../sql/delete_expired_factors.sql"),
        &[&user_id, &before],
    )
    .await
}

/// The factor is proven; other attempts at one of its kind have become useless.
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
    run(db, SQL, &[&factor.id, &now, &credential, &aaguid]).await?;
    const OTHERS: &str = "delete from auth.mfa_factors where user_id = $1 and id <> $2 and status = 'unverified' \
                          and factor_type::text = $3::text";
    run(db, OTHERS, &[&user_id, &factor.id, &factor.kind.as_str()]).await
}

/// What the last ceremony with a WebAuthn factor was; the credential's counter moves with it.
pub(crate) async fn set_last_ceremony(
    db: &impl GenericClient,
    id: Uuid,
    data: &Value,
    credential: &Value,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.mfa_factors set last_webauthn_challenge_data = $2, web_authn_credential = $3, \
                       updated_at = $4 where id = $1";
    run(db, SQL, &[&id, data, credential, &now]).await
}

/// An administrator's change.
pub(crate) async fn update(
    db: &impl GenericClient,
    id: Uuid,
    friendly_name: Option<&str>,
    phone: Option<&str>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.mfa_factors set friendly_name = coalesce($2::text, friendly_name), \
                       phone = coalesce($3::text, phone), updated_at = $4 where id = $1";
    run(db, SQL, &[&id, &friendly_name, &phone, &now]).await
}

pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    run(db, "delete from auth.mfa_factors where id = $1", &[&id]).await
}

/// Sessions that showed this factor fall back to `aal1`.
pub(crate) async fn downgrade_sessions(db: &impl GenericClient, user_id: Uuid, id: Uuid) -> DbResult<()> {
    run(
        db,
        include_str!("../../sql/downgrade_sessions.sql"),
        &[&user_id, &id],
    )
    .await
}

/// The session rises to `aal2`, and sessions of the user that have not are over.
pub(crate) async fn raise_session(
    db: &impl GenericClient,
    (user_id, session_id): (Uuid, Uuid),
    factor: &Factor,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/verify_factor_session.sql");
    run(
        db,
        SQL,
        &[&session_id, &factor.id, &factor.kind.amr_method(), &now],
    )
    .await?;
    const OTHERS: &str =
        "delete from auth.sessions where user_id = $1 and id <> $2 and coalesce(aal, 'aal1') < 'aal2'";
    run(db, OTHERS, &[&user_id, &session_id]).await
}

/// A question asked of a factor.
#[derive(Debug, Clone)]
pub(crate) struct Challenge {
    pub(crate) id: Uuid,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) is_used: bool,
    pub(crate) ip: String,
    /// The hash of a code by text message.
    pub(crate) otp_hash: String,
    /// What a WebAuthn ceremony began with.
    pub(crate) ceremony: Option<Value>,
}

/// Keeps a challenge, and notes it at its factor.
pub(crate) async fn insert_challenge(
    db: &impl GenericClient,
    factor_id: Uuid,
    challenge: &Challenge,
) -> DbResult<()> {
    const SQL: &str = "insert into auth.mfa_challenges \
                       (id, factor_id, created_at, ip_address, otp_code, web_authn_session_data) values \
                       ($1, $2, $3, $4::text::inet, nullif($5::text, ''), $6)";
    let Challenge {
        id,
        created_at,
        ip,
        otp_hash,
        ceremony,
        ..
    } = challenge;
    run(db, SQL, &[id, &factor_id, created_at, ip, otp_hash, ceremony]).await?;
    const NOTE: &str =
        "update auth.mfa_factors set last_challenged_at = clock_timestamp(), updated_at = $2 where id = $1";
    run(db, NOTE, &[&factor_id, created_at]).await
}

/// One challenge of a factor.
pub(crate) async fn find_challenge(
    db: &impl GenericClient,
    factor_id: Uuid,
    id: Uuid,
) -> DbResult<Option<Challenge>> {
    const SQL: &str = "select id, created_at, verified_at is not null as is_used, host(ip_address) as ip, \
                       coalesce(otp_code, '') as otp_code, web_authn_session_data \
                       from auth.mfa_challenges where factor_id = $1 and id = $2";
    let Some(row) = find(db, SQL, &[&factor_id, &id]).await? else {
        return Ok(None);
    };
    Ok(Some(Challenge {
        id: row.try_get("id")?,
        created_at: row.try_get("created_at")?,
        is_used: row.try_get("is_used")?,
        ip: row.try_get("ip")?,
        otp_hash: row.try_get("otp_code")?,
        ceremony: row.try_get("web_authn_session_data")?,
    }))
}

/// Uses a challenge up; false when somebody else has.
pub(crate) async fn use_challenge(db: &impl GenericClient, id: Uuid, now: DateTime<Utc>) -> DbResult<bool> {
    const SQL: &str =
        "update auth.mfa_challenges set verified_at = $2 where id = $1 and verified_at is null returning id";
    Ok(find(db, SQL, &[&id, &now]).await?.is_some())
}

pub(crate) async fn delete_challenge(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    run(db, "delete from auth.mfa_challenges where id = $1", &[&id]).await
}
