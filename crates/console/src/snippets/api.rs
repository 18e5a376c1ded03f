//! The handlers of `/api/sql/snippets`.

use std::path::{Path, PathBuf};

use actix_web::{HttpResponse, ResponseError as _, web};
use deadpool_postgres::Transaction;
use serde::Deserialize;
use serde_json::json;

use super::snippet::{Base, check_name, check_text, not_found};
use super::{files, rows};
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::{ConsoleState, Level};

/// Names of the actions in the audit.
const SAVE: &str = "sql.snippet.save";
const DELETE: &str = "sql.snippet.delete";

/// The body of `PUT /api/sql/snippets/{name}`.
#[derive(Deserialize)]
pub(super) struct SaveRequest {
    text: String,
    #[serde(default)]
    base: Base,
}

/// `GET /api/sql/snippets` → `{snippets: [{name, updated_at}]}`
pub(super) async fn list(
    state: web::Data<ConsoleState>,
    session: Session,
) -> Result<HttpResponse, ConsoleError> {
    let snippets = match snippets_folder(&state)? {
        Some(folder) => use_files(move || files::list(&folder)).await?,
        None => match &session.account {
            Some(account) => rows::list(&**state.database.service().await?, account).await?,
            None => Vec::new(),
        },
    };
    Ok(HttpResponse::Ok().json(json!({ "snippets": snippets })))
}

/// `GET /api/sql/snippets/{name}` → `{name, text, updated_at, digest}`
pub(super) async fn show(
    state: web::Data<ConsoleState>,
    session: Session,
    name: web::Path<String>,
) -> Result<HttpResponse, ConsoleError> {
    let name = name.into_inner();
    check_name(&name)?;
    let snippet = match snippets_folder(&state)? {
        Some(folder) => use_files(move || files::read(&folder, &name)).await?,
        None => {
            let account = own_account(&session, &name)?;
            rows::read(&**state.database.service().await?, account, &name).await?
        }
    };
    Ok(HttpResponse::Ok().json(snippet))
}

/// `PUT /api/sql/snippets/{name}` with `{text, base?}` → 204, or 409 `conflict` when the snippet is not the `base` any more: the
/// digest of the text that was read, or null where there was none. Without a `base` it replaces whatever there is.
pub(super) async fn save(
    state: web::Data<ConsoleState>,
    session: Session,
    name: web::Path<String>,
    request: web::Json<SaveRequest>,
) -> Result<HttpResponse, ConsoleError> {
    let name = name.into_inner();
    let SaveRequest { text, base } = request.into_inner();
    check_name(&name)?;
    check_text(&text)?;
    if let Some(folder) = writable_folder(&state, &session)? {
        let file = name.clone();
        let deed = move || files::save(&folder, &file, &text, &base);
        change_file(&state, &session, (SAVE, &name), deed).await?;
        return Ok(HttpResponse::NoContent().finish());
    }
    let account = own_account(&session, &name)?;
    let mut client = state.database.service().await?;
    let transaction = client.transaction().await?;
    let outcome = rows::save(&*transaction, account, &name, &text, &base).await;
    finish(&state, &session, transaction, (SAVE, &name), outcome).await
}

/// The query of `DELETE /api/sql/snippets/{name}`.
#[derive(Deserialize)]
pub(super) struct DeleteRequest {
    base: Option<String>,
}

/// `DELETE /api/sql/snippets/{name}?base=` → 204, or 409 `conflict` when the snippet has another text than the one with the digest
/// `base`. Without it the snippet is removed with any text.
pub(super) async fn delete(
    state: web::Data<ConsoleState>,
    session: Session,
    name: web::Path<String>,
    request: web::Query<DeleteRequest>,
) -> Result<HttpResponse, ConsoleError> {
    let name = name.into_inner();
    let base = request.into_inner().base;
    check_name(&name)?;
    if let Some(folder) = writable_folder(&state, &session)? {
        let file = name.clone();
        let deed = move || files::delete(&folder, &file, base.as_deref());
        change_file(&state, &session, (DELETE, &name), deed).await?;
        return Ok(HttpResponse::NoContent().finish());
    }
    let account = own_account(&session, &name)?;
    let mut client = state.database.service().await?;
    let transaction = client.transaction().await?;
    let outcome = rows::delete(&*transaction, account, &name, base.as_deref()).await;
    finish(&state, &session, transaction, (DELETE, &name), outcome).await
}

/// Commits a change of rows with its entry of the audit, or notes that it was refused.
async fn finish(
    state: &ConsoleState,
    session: &Session,
    transaction: Transaction<'_>,
    (action, name): (&str, &str),
    outcome: Result<(), ConsoleError>,
) -> Result<HttpResponse, ConsoleError> {
    let entry = AuditEntry::new(action, name);
    if let Err(error) = outcome {
        transaction.rollback().await?;
        audit::record(state, session, entry.with_result(result_of(&error))).await?;
        return Err(error);
    }
    audit::write_by_service(state, &*transaction, session, entry).await?;
    transaction.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Changes a file. It takes part in no transaction, so one entry of the audit comes before the change, and another tells its outcome.
async fn change_file(
    state: &ConsoleState,
    session: &Session,
    (action, name): (&str, &str),
    deed: impl FnOnce() -> Result<(), ConsoleError> + Send + 'static,
) -> Result<(), ConsoleError> {
    let entry = AuditEntry::new(action, name);
    audit::record(state, session, entry.with_result("started")).await?;
    let outcome = use_files(deed).await;
    let result = outcome.as_ref().map_or_else(result_of, |()| "ok");
    // What was done to the file stays done, so a failure to write the second entry is no failure of the request.
    if let Err(error) = audit::record(state, session, entry.with_result(result)).await {
        tracing::warn!(%error, action, name, result, "the outcome of a change of a snippet is not in the audit");
    }
    outcome
}

/// The result that the audit notes for an error.
fn result_of(error: &ConsoleError) -> &'static str {
    if error.status_code().is_client_error() {
        "refused"
    } else {
        "failed"
    }
}

/// Returns the folder of snippets if they are files.
fn snippets_folder(state: &ConsoleState) -> Result<Option<PathBuf>, ConsoleError> {
    let folder = state.config.snippets_folder.as_ref();
    folder
        .map(|folder| folder.path().map(Path::to_path_buf))
        .transpose()
}

/// The same for a change. The files are shared by all accounts, so viewers may not change them.
fn writable_folder(state: &ConsoleState, session: &Session) -> Result<Option<PathBuf>, ConsoleError> {
    let folder = snippets_folder(state)?;
    if folder.is_some() {
        session.require(Level::Admin)?;
    }
    Ok(folder)
}

/// Returns the account whose rows the request is about.
fn own_account<'s>(session: &'s Session, name: &str) -> Result<&'s str, ConsoleError> {
    session.account.as_deref().ok_or_else(|| not_found(name))
}

/// Runs blocking work on files on another thread.
async fn use_files<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ConsoleError> + Send + 'static,
) -> Result<T, ConsoleError> {
    web::block(work)
        .await
        .map_err(|_| ConsoleError::unavailable("The server is stopping"))?
}
