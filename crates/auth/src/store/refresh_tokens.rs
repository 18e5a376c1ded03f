//! `auth.refresh_tokens`: each row is used once; rows of one session form a family.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::{DbResult, find, run};
use crate::machine::refresh::{Family, Presented};

/// Whom a token belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) user_id: Option<Uuid>,
    pub(crate) session_id: Option<Uuid>,
}

pub(crate) async fn find_owner(db: &impl GenericClient, token: &str) -> DbResult<Option<Owner>> {
    const SQL: &str = "select user_id, session_id from auth.refresh_tokens where token = $1::text";
    let Some(row) = find(db, SQL, &[&token]).await? else {
        return Ok(None);
    };
    let user_id: Option<String> = row.try_get(0)?;
    Ok(Some(Owner {
        user_id: user_id.and_then(|id| id.parse().ok()),
        session_id: row.try_get(1)?,
    }))
}

/// The token and what else its session holds; to be read under the session's lock.
pub(crate) async fn find_family(
    db: &impl GenericClient,
    token: &str,
) -> DbResult<Option<(Presented, Family)>> {
    let Some(row) = find(db, include_str!("../../sql/select_refresh_family.sql"), &[&token]).await? else {
        return Ok(None);
    };
    let updated_at: Option<DateTime<Utc>> = row.try_get("updated_at")?;
    let presented = Presented {
        revoked: row.try_get("revoked")?,
        updated_at: updated_at.unwrap_or_default(),
    };
    let family = Family {
        active_child: row.try_get("active_child")?,
        has_active: row.try_get("has_active")?,
    };
    Ok(Some((presented, family)))
}

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
    run(db, SQL, &[&token, &user_id, &parent, &session_id, &now]).await
}

pub(crate) async fn revoke(db: &impl GenericClient, token: &str, now: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str = "update auth.refresh_tokens set revoked = true, updated_at = $2 where token = $1::text";
    run(db, SQL, &[&token, &now]).await
}

/// Revokes whatever is active in a session.
pub(crate) async fn revoke_family(
    db: &impl GenericClient,
    session_id: Uuid,
    now: DateTime<Utc>,
) -> DbResult<()> {
    const SQL: &str = "update auth.refresh_tokens set revoked = true, updated_at = $2 \
                       where session_id = $1 and revoked is not true";
    run(db, SQL, &[&session_id, &now]).await
}

/// The newest active token of a session.
pub(crate) async fn find_active(db: &impl GenericClient, session_id: Uuid) -> DbResult<Option<String>> {
    const SQL: &str = "select token from auth.refresh_tokens where session_id = $1 and revoked is not true \
                       order by id desc limit 1";
    let row = find(db, SQL, &[&session_id]).await?;
    row.map(|row| row.try_get(0)).transpose()
}
