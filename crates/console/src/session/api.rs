//! `/api/session`: what the page has to know first, and sign-out; `/api/accounts`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use serde_json::{Map, Value, json};

use super::caller::Session;
use super::{accounts, cookie, member_lookup};
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::state::{ConsoleMode, ConsoleState, Level};

/// `GET /api/session`. Without a session only what the page needs to ask for one.
pub(super) async fn describe(
    state: web::Data<ConsoleState>,
    session: Option<Session>,
) -> Result<HttpResponse, ConsoleError> {
    let config = &state.config;
    // Null while the database is away: the page must load then, too, and asks again.
    let key = state.project_key.current(&state.database).await.ok();
    let mut body = json!({
        "mode": config.mode,
        "login": config.login,
        "sign_in": { "accounts": config.sign_in.accounts, "project": config.sign_in.project },
        "project": { "name": config.project, "key": key.as_deref() },
        "version": config.version,
    });
    if let Some(session) = session {
        let more = json!({
            "account": session.account.as_ref().map(|name| json!({ "name": name, "level": session.level })),
            "level": session.level,
            "read_only": config.read_only,
            "schema_changes": config.schema_changes,
            "migrations": config.schema_changes && config.migrations_folder.is_some(),
            "api_url": config.api_url,
            "publishable_key": config.publishable_key,
            "inbox_url": config.inbox_url,
            "postgres_version": postgres_version(&state).await,
            "disk": state.database.disk_warning(),
            "reasons": reasons(&state, &session),
        });
        if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
            body.extend(more);
        }
    } else if let Value::Object(body) = &mut body {
        body.insert("account".into(), Value::Null);
    }
    Ok(HttpResponse::Ok().json(body))
}

/// The database's version; null while it is away, because the page must load then, too.
async fn postgres_version(state: &ConsoleState) -> Option<String> {
    let client = state.database.service().await.ok()?;
    let row = client.query_one("show server_version", &[]).await.ok()?;
    row.get(0)
}

/// Texts that say why controls of this page are disabled, by the name of the control.
fn reasons(state: &ConsoleState, session: &Session) -> Map<String, Value> {
    let mut reasons = Map::new();
    if session.level < Level::Admin {
        let reason = if state.config.read_only {
            "The console is read only (selvedge.console.read_only)"
        } else {
            "Your account is a viewer"
        };
        reasons.insert("write".into(), json!(reason));
        reasons.insert("schema_changes".into(), json!(reason));
    } else if !state.config.schema_changes {
        reasons.insert(
            "schema_changes".into(),
            json!("The schema changes by migrations here (selvedge.console.schema_changes is false)"),
        );
    }
    if state.config.migrations_folder.is_none() {
        let reason = match state.config.mode {
            ConsoleMode::Start => {
                "This project does not apply migration files (db.migrations.enabled is false)"
            }
            ConsoleMode::Serve => {
                "Migration files are written where the project's folder is: by `selvedge start`"
            }
        };
        reasons.insert("migrations".into(), json!(reason));
    }
    reasons
}

/// `DELETE /api/session`.
pub(super) async fn sign_out(
    state: web::Data<ConsoleState>,
    session: Session,
) -> Result<HttpResponse, ConsoleError> {
    audit::record(
        &state,
        &session,
        AuditEntry::new("sign_out", session.account_name()),
    )
    .await?;
    state.sessions.end(&state.database, &session).await?;
    Ok(HttpResponse::build(StatusCode::NO_CONTENT)
        .insert_header(cookie::remove(state.config.secure_cookies))
        .finish())
}

/// `GET /api/accounts` → `{accounts, members}`
pub(super) async fn list(state: web::Data<ConsoleState>) -> Result<HttpResponse, ConsoleError> {
    let accounts = accounts::list_accounts(&**state.database.service().await?).await?;
    // Users with a level are listed only if users of the project may sign in at all.
    let members = match state.config.sign_in.project {
        true => member_lookup::list_members(&state.database).await?,
        false => Vec::new(),
    };
    Ok(HttpResponse::Ok().json(json!({ "accounts": accounts, "members": members })))
}
