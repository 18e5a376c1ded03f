//! What Auth's tables say of the project's users who may sign in to the console: a level, `console` in `app_metadata`, which users cannot
//! change themselves, and a verified second factor. `user_metadata` is never read.
//!
//! An index, a policy or a trigger of the project on these tables runs code in the session that reads them, and some of it only when the
//! transaction ends (a cursor WITH HOLD, a deferred trigger), as the role that has logged in. So they are read by the login of their owner, which
//! `postgres` can become anyway, and never in a session of the console itself.

use serde::Serialize;
use uuid::Uuid;

use crate::error::ConsoleError;
use crate::state::{ConsoleDatabase, Level};

/// The address or number is cut to 320 characters and the level to 20, because `postgres` may store texts of any length there.
const FIND_MEMBER: &str = "
    select left(coalesce(nullif(u.email::text, ''), u.phone::text), 320), left(u.raw_app_meta_data ->> 'console', 20)
    from auth.users u
    where u.id = $1
      and u.deleted_at is null
      and (u.banned_until is null or u.banned_until <= now())
      and exists (select from auth.mfa_factors f where f.user_id = u.id and f.status = 'verified')
      and exists (select from auth.sessions s where s.id = $2 and s.user_id = u.id)";

/// A factor counts when it is verified; without one the sign-in is refused.
const LIST_MEMBERS: &str = "
    select left(coalesce(nullif(u.email::text, ''), u.phone::text, u.id::text), 320), u.raw_app_meta_data ->> 'console',
      exists (select from auth.mfa_factors f where f.user_id = u.id and f.status = 'verified')
    from auth.users u
    where u.raw_app_meta_data ->> 'console' in ('viewer', 'admin')
      and u.deleted_at is null
      and (u.banned_until is null or u.banned_until <= now())
    order by 1
    limit 1000";

const END_AUTH_SESSION: &str = "delete from auth.sessions where id = $1 and user_id = $2";

/// A user of the project with a level.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ListedMember {
    pub(super) name: String,
    pub(super) level: String,
    /// Whether the user has a verified second factor, without which the sign-in is refused.
    pub(super) has_factor: bool,
}

/// Finds name and level of the user, who must have a level that this version knows, a second factor, and this session at Auth. Asked at each
/// request, so that a change applies to existing sessions.
pub(super) async fn find_member(
    database: &ConsoleDatabase,
    user: Uuid,
    auth_session: Uuid,
) -> Result<Option<(String, Level)>, ConsoleError> {
    let found = database
        .query_at_auth(FIND_MEMBER, &[&user, &auth_session])
        .await?;
    // A rewrite rule of the project may return several rows for one user.
    let [row] = found.as_slice() else {
        return Ok(None);
    };
    let (address, level): (Option<&str>, Option<&str>) = (row.try_get(0)?, row.try_get(1)?);
    // The id stands behind every address, so that no user has the name of an account.
    let name = format!("{} (project user {user})", address.unwrap_or_default());
    let level = level.and_then(|level| level.parse().ok());
    Ok(level.map(|level| (name, level)))
}

/// Ends the user's session at Auth.
///
/// # Errors
/// 503, also where a trigger of the project refuses it.
pub(super) async fn end_auth_session(
    database: &ConsoleDatabase,
    user: Uuid,
    auth_session: Uuid,
) -> Result<(), ConsoleError> {
    // Triggers of the project run in this statement or at the commit, in both cases as the role that has logged in.
    database
        .query_at_auth(END_AUTH_SESSION, &[&auth_session, &user])
        .await?;
    Ok(())
}

/// Lists the users whose `app_metadata` contains a console level.
pub(super) async fn list_members(database: &ConsoleDatabase) -> Result<Vec<ListedMember>, ConsoleError> {
    let rows = database.query_at_auth(LIST_MEMBERS, &[]).await?;
    rows.iter()
        .map(|row| {
            Ok(ListedMember {
                name: row.try_get(0)?,
                level: row.try_get(1)?,
                has_factor: row.try_get(2)?,
            })
        })
        .collect()
}
