//! The configuration of Auth: enabled parts, faults, and test calls (CONSOLE-113). The console only shows it: it is changed in
//! `config.toml`.

use std::sync::Arc;

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::{ConsoleState, InspectAuth};

/// The part of the configuration that a test call uses.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Wish {
    /// Requests the sign-in page of a provider.
    Provider { name: String },
    /// Calls a hook with a sample.
    Hook {
        name: String,
        #[serde(default)]
        user_id: Option<Uuid>,
    },
    /// Renders a mail.
    Mail { name: String },
    /// Checks whether Auth may redirect browsers to a URL.
    Redirect { url: String },
}

/// `GET /api/auth/configuration` → `{auth_url, providers, other_providers, mails, hooks, faults}`
pub(super) async fn show(state: web::Data<ConsoleState>) -> Result<HttpResponse, ConsoleError> {
    let described = inspector(&state)?.describe().await;
    Ok(HttpResponse::Ok().json(described.map_err(ConsoleError::unavailable)?))
}

/// `POST /api/auth/configuration/trials {kind, name | url, user_id?}` → the result, by kind: `{address, status, elapsed_ms}`,
/// `{input, output, refusal, elapsed_ms}`, `{subject, html, text}` or `{allowed}`
pub(super) async fn run_trial(
    state: web::Data<ConsoleState>,
    session: Session,
    wish: web::Json<Wish>,
) -> Result<HttpResponse, ConsoleError> {
    let auth = inspector(&state)?;
    let result = match wish.into_inner() {
        Wish::Provider { name } => {
            record(&state, &session, "auth.try_provider", &name).await?;
            auth.try_provider(name).await.map_err(refused)?
        }
        Wish::Hook { name, user_id } => {
            record(&state, &session, "auth.try_hook", &name).await?;
            auth.try_hook(name, user_id).await.map_err(refused)?
        }
        // No audit entry: neither mails nor redirects change anything or send a request.
        Wish::Mail { name } => auth
            .render_mail(&name)
            .ok_or_else(|| ConsoleError::not_found("There is no such mail"))?,
        Wish::Redirect { url } => json!({ "allowed": auth.is_redirect_allowed(&url) }),
    };
    Ok(HttpResponse::Ok().json(result))
}

fn inspector(state: &ConsoleState) -> Result<&Arc<dyn InspectAuth>, ConsoleError> {
    let missing = || ConsoleError::unavailable("Auth is switched off");
    state.handles.auth.as_ref().ok_or_else(missing)
}

/// Writes the audit entry. Call it before the test call, which sends a request to another server or runs a function.
async fn record(
    state: &ConsoleState,
    session: &Session,
    action: &str,
    target: &str,
) -> Result<(), ConsoleError> {
    audit::record(
        state,
        session,
        AuditEntry::new(action, target).with_result("started"),
    )
    .await
}

fn refused(reason: String) -> ConsoleError {
    ConsoleError::invalid(reason)
}
