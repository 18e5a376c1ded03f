//! `_selvedge.selvedge_ended_users`: whose tokens Realtime refuses although they have not expired, because it asks for no session. Source:
//! Realtime contract, REALTIME-022.

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use uuid::Uuid;

use super::{DbResult, run_statement};

/// Notes that a user was deleted: no token of theirs counts any more.
pub(crate) async fn note_deletion(db: &impl GenericClient, user_id: Uuid) -> DbResult<()> {
    note_end(db, user_id, None).await
}

/// Notes that tokens of a banned user are refused until the ban ends. Those of a deleted user stay refused.
pub(crate) async fn note_ban(db: &impl GenericClient, user_id: Uuid, until: DateTime<Utc>) -> DbResult<()> {
    note_end(db, user_id, Some(until)).await
}

async fn note_end(db: &impl GenericClient, user_id: Uuid, until: Option<DateTime<Utc>>) -> DbResult<()> {
    const SQL: &str = "insert into _selvedge.selvedge_ended_users as known (user_id, until) values ($1, $2) \
                       on conflict (user_id) do update set ended_at = now(), \
                       until = case when coalesce(known.until, known.renewed_at) is not null then excluded.until end, \
                       renewed_at = case when excluded.until is not null then known.renewed_at end";
    run_statement(db, SQL, &[&user_id, &until]).await
}

/// Notes that a ban was lifted. Neither does that lift a deletion, nor do the tokens of a former user with this id count again.
pub(crate) async fn lift_ban(db: &impl GenericClient, user_id: Uuid) -> DbResult<()> {
    const LIFT: &str = "delete from _selvedge.selvedge_ended_users where user_id = $1 and until is not null and renewed_at is null";
    const KEEP: &str = "update _selvedge.selvedge_ended_users set until = null where user_id = $1 and renewed_at is not null";
    run_statement(db, LIFT, &[&user_id]).await?;
    run_statement(db, KEEP, &[&user_id]).await
}

/// Notes that the id of a deleted user belongs to a new one: an administrator has created it anew, for rows that still name it. Tokens of
/// the former user are older, and stay refused.
pub(crate) async fn renew_id(db: &impl GenericClient, user_id: Uuid, now: DateTime<Utc>) -> DbResult<()> {
    const SQL: &str =
        "update _selvedge.selvedge_ended_users set until = null, renewed_at = $2 where user_id = $1";
    run_statement(db, SQL, &[&user_id, &now]).await
}
