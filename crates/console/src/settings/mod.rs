//! The project's configuration: settings with their origin, and the checks of `selvedge doctor` (CONSOLE-141).
//!
//! The server provides both. Only admins may see them, because they contain hosts, folders and faults of the deployment.

use actix_web::http::Method;
use actix_web::{HttpResponse, web};
use serde_json::json;

use crate::access::Access;
use crate::audit::{self, AuditEntry};
use crate::endpoint::ApiRoute;
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::{ConsoleState, Level};

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    let admin = Access::From(Level::Admin);
    vec![
        ApiRoute::new(Method::GET, "/api/settings", admin, list_settings),
        ApiRoute::new(Method::GET, "/api/doctor", admin, run_doctor),
    ]
}

/// `GET /api/settings` → `{settings: [{key, value, origin, secret, set}]}`
async fn list_settings(
    state: web::Data<ConsoleState>,
    session: Session,
) -> Result<HttpResponse, ConsoleError> {
    audit::record(&state, &session, AuditEntry::new("settings.read", "")).await?;
    Ok(HttpResponse::Ok().json(json!({ "settings": state.handles.settings })))
}

/// `GET /api/doctor` → `{checks: [{name, status, message, remedy}]}`
async fn run_doctor(state: web::Data<ConsoleState>, session: Session) -> Result<HttpResponse, ConsoleError> {
    audit::record(&state, &session, AuditEntry::new("doctor.run", "")).await?;
    let Some(examine) = &state.handles.doctor else {
        return Err(ConsoleError::unavailable(
            "This console cannot examine the server",
        ));
    };
    let checks = examine().await.map_err(ConsoleError::unavailable)?;
    Ok(HttpResponse::Ok().json(json!({ "checks": checks })))
}
