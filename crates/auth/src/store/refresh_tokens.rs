//! `auth.refresh_tokens`: each token is used once and replaced by a child; the tokens of one session form a family.
//! Sessions with counter tokens have no rows here.
//!
//! Source: Auth contract §4.3, format v1.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::{DbResult, find_row, run_statement};

/// The presented token as stored, read under the session's lock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PresentedRefreshToken {
    pub(crate) revoked: bool,
    pub(crate) updated_at: DateTime<Utc>,
}

/// The session's other tokens, as far as the decision depends on them.
#[derive(Debug, Clone)]
pub(crate) struct TokenFamily {
    /// An active token whose parent is the presented one.
    pub(crate) active_child: Option<String>,
    /// Whether any token is active.
    pub(crate) has_active: bool,
}

/// User and session of a token; `None` where the column is null or, for the user, is no UUID.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) user_id: Option<Uuid>,
    pub(crate) session_id: Option<Uuid>,
}

/// Finds the owner of a token, revoked or not.
pub(crate) async fn find_owner(db: &impl GenericClient, token: &str) -> DbResult<Option<Owner>> {
    const SQL: &str = "select user_id, session_id from auth.refresh_tokens where token = $1::text";
    let Some(row) = find_row(db, SQL, &[&token]).await? else {
        return Ok(None);
    };
    // Compat: the column `user_id` is text in GoTrue's schema.
    let user_id: Option<String> = row.try_get(0)?;
    Ok(Some(Owner {
        user_id: user_id.and_then(|id| id.parse().ok()),
        session_id: row.try_get(1)?,
    }))
}

/// Finds a token and the state of its session's other tokens. The caller must hold the lock of the session, or a
/// concurrent refresh may change the family.
pub(crate) async fn find_family(
    db: &impl GenericClient,
    token: &str,
) -> DbResult<Option<(PresentedRefreshToken, TokenFamily)>> {
    let Some(row) = find_row(db, include_str!("../../sql/select_refresh_family.sql"), &[&token]).await?
    else {
        return Ok(None);
    };
    let updated_at: Option<DateTime<Utc>> = row.try_get("updated_at")?;
    let presented = PresentedRefreshToken {
        revoked: row.try_get("revoked")?,
        // Without a time the token counts as very old, so that no reuse interval applies.
        updated_at: updated_at.unwrap_or_default(),
    };
    let family = TokenFamily {
        active_child: row.try_get("active_child")?,
        has_active: row.try_get("has_active")?,
    };
    Ok(Some((presented, family)))
}

/// Inserts an active token that replaces `parent`. `owner` is user and session.
pub(crate) async fn insert_child(
    db: &impl GenericClient,
    owner: (Uuid, Uuid),
    parent: &str,
    token: &str,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "insert into auth.refresh_tokens \
                       (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id) values \
                       ('00000000-0000-0000-0000-000000000000', $1::text, $2::uuid::text, false, $5, $5, $3::text, $4)";
    let (user_id, session_id) = owner;
    run_statement(db, SQL, &[&token, &user_id, &parent, &session_id, &now]).await
}

/// Revokes one token; the reuse interval counts from `now`.
pub(crate) async fn revoke(db: &impl GenericClient, token: &str, now: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str = "update auth.refresh_tokens set revoked = true, updated_at = $2 where token = $1::text";
    run_statement(db, SQL, &[&token, &now]).await
}

/// Revokes all active tokens of a session: because a used token came back, or to replace them when the session changes
/// its level.
pub(crate) async fn revoke_family(
    db: &impl GenericClient,
    session_id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<()> {
    // `revoked` may be null in rows that were inserted by hand; null counts as active.
    const SQL: &str = "update auth.refresh_tokens set revoked = true, updated_at = $2 \
                       where session_id = $1 and revoked is not true";
    run_statement(db, SQL, &[&session_id, &now]).await
}

/// Finds the newest active token of a session; `None` when they are all revoked.
pub(crate) async fn find_active(db: &impl GenericClient, session_id: Uuid) -> DbResult<Option<String>> {
    // There may be several active tokens: a race inside the reuse interval issues a second child.
    const SQL: &str = "select token from auth.refresh_tokens where session_id = $1 and revoked is not true \
                       order by id desc limit 1";
    let row = find_row(db, SQL, &[&session_id]).await?;
    row.map(|row| row.try_get(0)).transpose()
}
