//! `auth.sessions` and their proofs, `auth.mfa_amr_claims`.

use std::time::Duration;

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde::Serialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, find, list, run};
use crate::config::SessionConfig;

/// A session as stored.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) id: Uuid,
    pub(crate) user_id: Uuid,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) refreshed_at: Option<DateTime<Utc>>,
    pub(crate) not_after: Option<DateTime<Utc>>,
    pub(crate) aal: String,
    /// Signs the session's refresh tokens, where they are counters.
    pub(crate) token_key: Option<String>,
    /// The count of its newest token.
    pub(crate) token_counter: i64,
}

impl Session {
    fn from_row(row: &Row) -> DbResult<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            user_id: row.try_get("user_id")?,
            created_at: row.try_get::<_, Option<_>>("created_at")?.unwrap_or_default(),
            refreshed_at: row.try_get("refreshed_at")?,
            not_after: row.try_get("not_after")?,
            aal: row.try_get("aal")?,
            token_key: row.try_get("refresh_token_hmac_key")?,
            token_counter: row.try_get("refresh_token_counter")?,
        })
    }
}

/// How the holder of a session proved who they are; newest first in a token.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AmrEntry {
    pub(crate) method: String,
    pub(crate) timestamp: i64,
}

/// What a new session starts with.
#[derive(Debug)]
pub(crate) struct NewSession<'a> {
    pub(crate) id: Uuid,
    pub(crate) user_id: Uuid,
    pub(crate) user_agent: &'a str,
    pub(crate) ip: &'a str,
    pub(crate) method: &'a str,
    pub(crate) refresh_token: &'a str,
    /// The key of its tokens, if they are to be counters.
    pub(crate) token_key: Option<&'a str>,
}

/// Creates session, proof and refresh token, and notes the sign-in at the user.
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
    } = new;
    run(
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
        ],
    )
    .await
}

pub(crate) async fn find_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<Session>> {
    const SQL: &str = "select id, user_id, created_at, refreshed_at at time zone 'utc' as refreshed_at, not_after, \
                       coalesce(aal::text, 'aal1') as aal, refresh_token_hmac_key, \
                       coalesce(refresh_token_counter, 0) as refresh_token_counter from auth.sessions where id = $1";
    find(db, SQL, &[&id])
        .await?
        .as_ref()
        .map(Session::from_row)
        .transpose()
}

/// The session, locked until the transaction ends; `None` when it is gone or locked by somebody else.
pub(crate) async fn lock(db: &impl GenericClient, id: Uuid) -> DbResult<Option<Session>> {
    const SQL: &str = include_str!("../../sql/lock_session.sql");
    find(db, SQL, &[&id])
        .await?
        .as_ref()
        .map(Session::from_row)
        .transpose()
}

/// Whether no other living session of the user, with the same tag, was refreshed later.
pub(crate) async fn is_latest(db: &impl GenericClient, id: Uuid, limits: &SessionConfig) -> DbResult<bool> {
    let seconds = |limit: Option<Duration>| limit.map(|limit| limit.as_secs_f64());
    let (timebox, inactivity) = (seconds(limits.timebox), seconds(limits.inactivity_timeout));
    const SQL: &str = include_str!("../../sql/is_latest_session.sql");
    let row = find(db, SQL, &[&id, &limits.tags, &timebox, &inactivity]).await?;
    row.map_or(Ok(false), |row| row.try_get(0))
}

/// Moves the count of the session's newest token.
pub(crate) async fn set_counter(db: &impl GenericClient, id: Uuid, counter: i64) -> DbResult<()> {
    const SQL: &str = "update auth.sessions set refresh_token_counter = $2 where id = $1";
    run(db, SQL, &[&id, &counter]).await
}

/// Notes a refresh.
pub(crate) async fn touch(
    db: &impl GenericClient,
    id: Uuid,
    user_agent: &str,
    ip: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.sessions set refreshed_at = $2::timestamptz at time zone 'utc', updated_at = $2, \
                       user_agent = $3::text, ip = $4::text::inet where id = $1";
    run(db, SQL, &[&id, &now, &user_agent, &ip]).await
}

pub(crate) async fn list_proofs(db: &impl GenericClient, id: Uuid) -> DbResult<Vec<AmrEntry>> {
    const SQL: &str = "select authentication_method, updated_at from auth.mfa_amr_claims where session_id = $1 \
                       order by updated_at desc";
    let rows = list(db, SQL, &[&id]).await?;
    let entry = |row: &Row| {
        let updated_at: DateTime<Utc> = row.try_get(1)?;
        Ok(AmrEntry {
            method: row.try_get(0)?,
            timestamp: updated_at.timestamp(),
        })
    };
    rows.iter().map(entry).collect()
}

/// Ends one session; its tokens and proofs go with it.
pub(crate) async fn delete(db: &impl GenericClient, id: Uuid) -> DbResult<()> {
    run(db, "delete from auth.sessions where id = $1", &[&id]).await
}

/// Ends all sessions of a user.
pub(crate) async fn delete_of_user(db: &impl GenericClient, user_id: Uuid) -> DbResult<()> {
    run(db, "delete from auth.sessions where user_id = $1", &[&user_id]).await
}

/// Ends all sessions of a user but one.
pub(crate) async fn delete_others(db: &impl GenericClient, user_id: Uuid, kept: Uuid) -> DbResult<()> {
    run(
        db,
        "delete from auth.sessions where user_id = $1 and id <> $2",
        &[&user_id, &kept],
    )
    .await
}
