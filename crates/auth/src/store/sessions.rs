//! `auth.sessions` and `auth.mfa_amr_claims`: sessions, and the authentication methods that each was verified with.
//! Source: Auth contract §4.2.

use std::time::Duration;

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde::Serialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, find_row, list_rows, run_statement};
use crate::config::SessionConfig;

/// A row of `auth.sessions`.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) id: Uuid,
    pub(crate) user_id: Uuid,
    pub(crate) created_at: DateTime<Utc>,
    /// `None` before the first refresh.
    pub(crate) refreshed_at: Option<DateTime<Utc>>,
    /// Fixed end of the session, for example from a SAML assertion; `None` for no end.
    pub(crate) not_after: Option<DateTime<Utc>>,
    /// `aal1`, or `aal2` after a second factor was verified.
    pub(crate) aal: String,
    /// The key that signs refresh tokens; `None` for a session with token rows.
    pub(crate) token_key: Option<String>,
    /// The counter of the newest refresh token; 0 for a session with token rows.
    pub(crate) token_counter: i64,
    /// The client of the OAuth server that the session belongs to; `None` for one of the user's own sign-in.
    pub(crate) client_id: Option<Uuid>,
}

impl Session {
    fn from_row(row: &Row) -> DbResult<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            user_id: row.try_get("user_id")?,
            // Compat: nullable in GoTrue's schema. A session without a time counts as created in 1970, so every time
            // limit has ended it.
            created_at: row.try_get::<_, Option<_>>("created_at")?.unwrap_or_default(),
            refreshed_at: row.try_get("refreshed_at")?,
            not_after: row.try_get("not_after")?,
            aal: row.try_get("aal")?,
            token_key: row.try_get("refresh_token_hmac_key")?,
            token_counter: row.try_get("refresh_token_counter")?,
            client_id: row.try_get("oauth_client_id")?,
        })
    }
}

/// An entry of the `amr` claim: an authentication method and when it was last used (unix seconds).
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AmrEntry {
    pub(crate) method: String,
    pub(crate) timestamp: i64,
    /// The SSO provider of a sign-in by SAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<String>,
}

/// The columns of a new session.
#[derive(Debug)]
pub(crate) struct NewSession<'a> {
    pub(crate) id: Uuid,
    pub(crate) user_id: Uuid,
    pub(crate) user_agent: &'a str,
    pub(crate) ip: &'a str,
    /// AMR method of the sign-in, for example `password`.
    pub(crate) method: &'a str,
    /// The first token; not stored when `token_key` is given.
    pub(crate) refresh_token: &'a str,
    /// The key for counter tokens; `None` for a session with token rows.
    pub(crate) token_key: Option<&'a str>,
    /// When the session must end; `None` for no end.
    pub(crate) not_after: Option<DateTime<Utc>>,
}

/// Inserts session, AMR entry and first refresh token, and sets the user's `last_sign_in_at`.
pub(crate) async fn insert(
    db: &impl GenericClient,
    new: &NewSession<'_>,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = include_str!("../../sql/create_session.sql");
    let NewSession {
        id,
        user_id,
        user_agent,
        ip,
        method,
        refresh_token,
        token_key,
        not_after,
    } = new;
    run_statement(
        db,
        SQL,
        &[
            id,
            user_id,
            &now,
            user_agent,
            ip,
            method,
            refresh_token,
            token_key,
            not_after,
        ],
    )
    .await
}

/// Finds a session without a lock.
pub(crate) async fn find_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<Session>> {
    // Compat: `refreshed_at` is a timestamp without time zone in GoTrue's schema, in UTC.
    const SQL: &str = "select id, user_id, created_at, refreshed_at at time zone 'utc' as refreshed_at, not_after, \
                       coalesce(aal::text, 'aal1') as aal, refresh_token_hmac_key, \
                       coalesce(refresh_token_counter, 0) as refresh_token_counter, oauth_client_id \
                       from auth.sessions where id = $1";
    find_row(db, SQL, &[&id])
        .await?
        .as_ref()
        .map(Session::from_row)
        .transpose()
}

/// Finds a session and locks its row until the transaction ends; `None` when the session does not exist or another
/// transaction holds the lock. The caller distinguishes the two with [`find_by_id`] and tries again.
pub(crate) async fn lock_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<Session>> {
    const SQL: &str = include_str!("../../sql/lock_session.sql");
    find_row(db, SQL, &[&id])
        .await?
        .as_ref()
        .map(Session::from_row)
        .transpose()
}

/// Whether this is the user's most recently refreshed session among the live ones with the same tag. Source: Auth
/// contract §4.4, `SESSIONS_SINGLE_PER_USER`.
pub(crate) async fn is_latest(db: &impl GenericClient, id: Uuid, limits: &SessionConfig) -> DbResult<bool> {
    let seconds = |limit: Option<Duration>| limit.map(|limit| limit.as_secs_f64());
    let (timebox, inactivity) = (seconds(limits.timebox), seconds(limits.inactivity_timeout));
    const SQL: &str = include_str!("../../sql/is_latest_session.sql");
    let row = find_row(db, SQL, &[&id, &limits.tags, &timebox, &inactivity]).await?;
    row.map_or(Ok(false), |row| row.try_get(0))
}

/// Stores the counter of the newest refresh token; tokens with a lower counter are then old.
pub(crate) async fn set_counter(db: &impl GenericClient, id: Uuid, counter: i64) -> DbResult<()> {
    const SQL: &str = "update auth.sessions set refresh_token_counter = $2 where id = $1";
    run_statement(db, SQL, &[&id, &counter]).await
}

/// Records a refresh: its time, and the user agent and address of the client.
pub(crate) async fn record_refresh(
    db: &impl GenericClient,
    id: Uuid,
    user_agent: &str,
    ip: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    // Compat: the column has no time zone, so the time is stored as it is in UTC.
    const SQL: &str = "update auth.sessions set refreshed_at = $2::timestamptz at time zone 'utc', updated_at = $2, \
                       user_agent = $3::text, ip = $4::text::inet where id = $1";
    run_statement(db, SQL, &[&id, &now, &user_agent, &ip]).await
}

/// Lists the AMR entries of a session, newest first, as clients expect them.
pub(crate) async fn list_amr_entries(db: &impl GenericClient, id: Uuid) -> DbResult<Vec<AmrEntry>> {
    const SQL: &str = "select authentication_method, updated_at from auth.mfa_amr_claims where session_id = $1 \
                       order by updated_at desc";
    let rows = list_rows(db, SQL, &[&id]).await?;
    let entry = |row: &Row| {
        let updated_at: DateTime<Utc> = row.try_get(1)?;
        Ok(AmrEntry {
            method: row.try_get(0)?,
            timestamp: updated_at.timestamp(),
            provider: None,
        })
    };
    rows.iter().map(entry).collect()
}

/// Deletes one session; the foreign keys delete its tokens and AMR entries.
pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    run_statement(db, "delete from auth.sessions where id = $1", &[&id]).await
}
