//! The handlers of `/api/sql/snippets`.

use std::path::PathBuf;

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::json;

use super::snippet::{Base, check_name, check_text, not_found};
use super::{files, rows};
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::{ConsoleState, Level};

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
    let snippets = match state.config.project_folder.clone() {
        Some(project) => use_files(move || files::list(&project)).await?,
        None => match &session.account {
            Some(account) => rows::list(&state.database.service().await?, account).await?,
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
    let snippet = match state.config.project_folder.clone() {
        Some(project) => use_files(move || files::read(&project, &name)).await?,
        None => {
            let account = own_account(&session, &name)?;
            rows::read(&state.database.service().await?, account, &name).await?
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
    let project = writable_folder(&state, &session)?;
    let entry = AuditEntry::new("sql.snippet.save", &name);
    audit::record(&state, &session, entry).await?;
    match project {
        Some(project) => use_files(move || files::save(&project, &name, &text, &base)).await?,
        None => {
            let account = own_account(&session, &name)?;
            rows::save(&state.database.service().await?, account, &name, &text, &base).await?;
        }
    }
    Ok(HttpResponse::NoContent().finish())
}

/// `DELETE /api/sql/snippets/{name}` → 204
pub(super) async fn delete(
    state: web::Data<ConsoleState>,
    session: Session,
    name: web::Path<String>,
) -> Result<HttpResponse, ConsoleError> {
    let name = name.into_inner();
    check_name(&name)?;
    let project = writable_folder(&state, &session)?;
    let entry = AuditEntry::new("sql.snippet.delete", &name);
    audit::record(&state, &session, entry).await?;
    match project {
        Some(project) => use_files(move || files::delete(&project, &name)).await?,
        None => {
            let account = own_account(&session, &name)?;
            rows::delete(&state.database.service().await?, account, &name).await?;
        }
    }
    Ok(HttpResponse::NoContent().finish())
}

/// Returns the project's folder if snippets are files. They are shared by all accounts, so viewers may not change them.
fn writable_folder(state: &ConsoleState, session: &Session) -> Result<Option<PathBuf>, ConsoleError> {
    let folder = state.config.project_folder.clone();
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
