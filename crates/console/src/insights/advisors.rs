//! `/api/advisors`: findings of the lints, and those that were muted.

use actix_web::{HttpResponse, web};
use selvedge_advisors::run_lints;
use serde_json::json;

use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// The longest key that is stored; names of objects are far shorter.
const LONGEST_KEY: usize = 1000;

/// `GET /api/advisors` → `{findings, muted: [key]}`. Muted findings are among the findings, so that they can be shown.
pub(super) async fn list(
    state: web::Data<ConsoleState>,
    session: Session,
) -> Result<HttpResponse, ConsoleError> {
    let mut client = state.database.connection(session.level).await?;
    let transaction = client.build_transaction().read_only(true).start().await?;
    // Lints read the texts of expressions, in which only an empty search path makes all names qualified.
    transaction
        .batch_execute("set local search_path = ''; set local statement_timeout = '10s'")
        .await?;
    let findings = run_lints(&*transaction, &state.config.exposed_schemas).await?;
    transaction.rollback().await?;
    let service = state.database.service().await?;
    // Levels have no right to the mutes, because a viewer must not hide a finding from others.
    let rows = service
        .query(
            "select key from selvedge_console.selvedge_muted_findings order by key",
            &[],
        )
        .await?;
    let muted: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    Ok(HttpResponse::Ok().json(json!({ "findings": findings, "muted": muted })))
}

/// `PUT /api/advisors/muted/{key}` → 204
pub(super) async fn mute(
    state: web::Data<ConsoleState>,
    session: Session,
    key: web::Path<String>,
) -> Result<HttpResponse, ConsoleError> {
    if key.is_empty() || key.len() > LONGEST_KEY {
        return Err(ConsoleError::invalid("The key of a finding is expected."));
    }
    let mut service = state.database.service().await?;
    let transaction = service.transaction().await?;
    transaction
        .execute(
            "insert into selvedge_console.selvedge_muted_findings (key, account) values ($1, $2) on conflict do nothing",
            &[&*key, &session.account.as_deref()],
        )
        .await?;
    audit::write_by_service(
        &state,
        &*transaction,
        &session,
        AuditEntry::new("advisors.mute", &key),
    )
    .await?;
    transaction.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}

/// `DELETE /api/advisors/muted/{key}` → 204
pub(super) async fn unmute(
    state: web::Data<ConsoleState>,
    session: Session,
    key: web::Path<String>,
) -> Result<HttpResponse, ConsoleError> {
    let mut service = state.database.service().await?;
    let transaction = service.transaction().await?;
    transaction
        .execute(
            "delete from selvedge_console.selvedge_muted_findings where key = $1",
            &[&*key],
        )
        .await?;
    audit::write_by_service(
        &state,
        &*transaction,
        &session,
        AuditEntry::new("advisors.unmute", &key),
    )
    .await?;
    transaction.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}
