//! `auth.sessions` and their proofs, `auth.mfa_amr_claims`.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use serde::Serialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::{DbResult, execute, find, list};

/// A session as stored.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) id: Uuid,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) refreshed_at: Option<DateTime<Utc>>,
    pub(crate) not_after: Option<DateTime<Utc>>,
    pub(crate) aal: String,
}

impl Session {
    fn from_row(row: &Row) -> DbResult<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            created_at: row.try_get::<_, Option<_>>("created_at")?.unwrap_or_default(),
            refreshed_at: row.try_get("refreshed_at")?,
            not_after: row.try_get("not_after")?,
            aal: row.try_get("aal")?,
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
    } = new;
    execute(
        db,
        SQL,
        &[id, user_id, &now, user_agent, ip, method, refresh_token],
    )
    .await
    .map(|_| ())
}

pub(crate) async fn find_by_id(db: &impl GenericClient, id: Uuid) -> DbResult<Option<Session>> {
    const SQL: &str = "select id, created_at, refreshed_at at time zone 'utc' as refreshed_at, not_after, \
                       coalesce(aal::text, 'aal1') as aal from auth.sessions where id = $1";
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

/// Whether no other session of the user was refreshed later.
pub(crate) async fn is_latest(db: &impl GenericClient, id: Uuid) -> DbResult<bool> {
    let row = find(db, include_str!("../../sql/is_latest_session.sql"), &[&id]).await?;
    row.map_or(Ok(false), |row| row.try_get(0))
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
    execute(db, SQL, &[&id, &now, &user_agent, &ip]).await.map(|_| ())
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
    execute(db, "delete from auth.sessions where id = $1", &[&id])
        .await
        .map(|_| ())
}

/// Ends all sessions of a user.
pub(crate) async fn delete_of_user(db: &impl GenericClient, user_id: Uuid) -> DbResult<()> {
    execute(db, "delete from auth.sessions where user_id = $1", &[&user_id])
        .await
        .map(|_| ())
}

/// Ends all sessions of a user but one.
pub(crate) async fn delete_others(db: &impl GenericClient, user_id: Uuid, kept: Uuid) -> DbResult<()> {
    execute(
        db,
        "delete from auth.sessions where user_id = $1 and id <> $2",
        &[&user_id, &kept],
    )
    .await
    .map(|_| ())
}
