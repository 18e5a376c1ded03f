//! The mails that wait for the SMTP server, without their content, because it holds codes that sign people in.

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};

use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

const LIST: &str = "
    select id, recipient, subject, tries, to_json(next_try_at) #>> '{}', last_error, to_json(created_at) #>> '{}'
    from _selvedge.selvedge_outgoing_mails where expires_at > now() order by id limit 500";

/// Lists the waiting mails, the oldest first.
pub(super) async fn list(state: &ConsoleState) -> Result<Vec<Value>, ConsoleError> {
    let client = state.database.service().await?;
    let rows = client.query(LIST, &[]).await?;
    let read = |row: &tokio_postgres::Row| {
        json!({
            "id": row.get::<_, i64>(0).to_string(),
            "to": row.get::<_, String>(1),
            "subject": row.get::<_, String>(2),
            "attempts": row.get::<_, i32>(3),
            "next_attempt_at": row.get::<_, String>(4),
            "error": row.get::<_, Option<String>>(5),
            "created_at": row.get::<_, String>(6),
        })
    };
    Ok(rows.iter().map(read).collect())
}

/// `POST /api/mail/{id}/retry`: sends a waiting mail immediately.
pub(super) async fn retry(
    state: web::Data<ConsoleState>,
    session: Session,
    id: web::Path<i64>,
) -> Result<HttpResponse, ConsoleError> {
    let mut client = state.database.service().await?;
    let transaction = client.transaction().await?;
    let row = transaction
        .query_opt(
            "update _selvedge.selvedge_outgoing_mails set next_try_at = now() where id = $1 and expires_at > now()
             returning recipient",
            &[&*id],
        )
        .await?;
    let Some(row) = row else {
        return Err(ConsoleError::not_found(
            "This mail does not wait any more: it was sent, or its code has expired",
        ));
    };
    let recipient: String = row.get(0);
    let entry = AuditEntry::new("mail.retry", &recipient);
    audit::write_by_service(&state, &*transaction, &session, entry).await?;
    transaction.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}
