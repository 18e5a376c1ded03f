//! Lists a user's sessions, one per device on which the user is signed in, and ends one or all of them.
//!
//! Auth checks the session in the database at every refresh and at each of its own requests, so a session that is deleted
//! here ends there, too. Other services accept access tokens of the session until they expire.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::audit::{AuditEntry, AuditPermit};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// Sessions beyond this number are not listed; a user with so many is a program.
const MOST_SESSIONS: i64 = 500;

const LIST: &str = "
    select id, user_id, to_json(created_at) #>> '{}', to_json(refreshed_at at time zone 'utc') #>> '{}',
           to_json(not_after) #>> '{}', aal::text, host(ip), user_agent
    from auth.sessions
    where user_id = $1 and (not_after is null or not_after > now())
    order by coalesce(refreshed_at at time zone 'utc', created_at) desc limit $2";

/// The user whose sessions are meant.
#[derive(Deserialize)]
pub(super) struct Owner {
    user: Uuid,
}

/// `GET /api/auth/sessions?user=` → `{sessions: [{id, user_id, created_at, refreshed_at, not_after, aal, ip, user_agent}]}`
pub(super) async fn list(
    state: web::Data<ConsoleState>,
    session: Session,
    owner: web::Query<Owner>,
) -> Result<HttpResponse, ConsoleError> {
    let client = state.database.connection(session.level).await?;
    let rows = client.query(LIST, &[&owner.user, &MOST_SESSIONS]).await?;
    let sessions: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "id": row.get::<_, Uuid>(0),
                "user_id": row.get::<_, Uuid>(1),
                "created_at": row.get::<_, String>(2),
                "refreshed_at": row.get::<_, Option<String>>(3),
                "not_after": row.get::<_, Option<String>>(4),
                "aal": row.get::<_, Option<String>>(5),
                "ip": row.get::<_, Option<String>>(6),
                "user_agent": row.get::<_, Option<String>>(7),
            })
        })
        .collect();
    Ok(HttpResponse::Ok().json(json!({ "sessions": sessions })))
}

/// `DELETE /api/auth/sessions?user=` → 204: signs the user out everywhere, and ends what was begun in the sessions, as `/logout` of Auth
/// does.
pub(super) async fn end_all(
    state: web::Data<ConsoleState>,
    session: Session,
    owner: web::Query<Owner>,
) -> Result<HttpResponse, ConsoleError> {
    let permit = AuditPermit::request(&state).await?;
    let mut client = state.database.connection(session.level).await?;
    let transaction = client.transaction().await?;
    const END: &str = "select _selvedge.end_sessions($1, null, true, now())";
    let ended: i64 = transaction.query_one(END, &[&owner.user]).await?.try_get(0)?;
    let target = owner.user.to_string();
    let entry = AuditEntry::new("auth.sessions.end_all", &target).with_rows(ended);
    permit.write(&*transaction, &session, entry).await?;
    transaction.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}

/// `DELETE /api/auth/sessions/{id}` → 204: signs the user out on one device.
pub(super) async fn end_one(
    state: web::Data<ConsoleState>,
    session: Session,
    id: web::Path<Uuid>,
) -> Result<HttpResponse, ConsoleError> {
    let permit = AuditPermit::request(&state).await?;
    let mut client = state.database.connection(session.level).await?;
    let transaction = client.transaction().await?;
    let row = transaction
        .query_opt(
            "delete from auth.sessions where id = $1 returning user_id",
            &[&*id],
        )
        .await?;
    let Some(row) = row else {
        return Err(ConsoleError::not_found("This session has ended already"));
    };
    let target = row.get::<_, Uuid>(0).to_string();
    let entry = AuditEntry::new("auth.sessions.end", &target);
    permit.write(&*transaction, &session, entry).await?;
    transaction.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}
