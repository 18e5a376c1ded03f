//! `POST /api/migrations`: a schema change as a migration file of the project (CONSOLE-071 to 073).
//!
//! With `preview` the change runs in a transaction that is rolled back, and the response lists what it locked, rewrote and
//! dropped. Otherwise the change and its history row are committed, and its text becomes a file in the migrations folder.

mod apply;
mod effects;
mod fault;
mod preview;
mod request;
mod version;

use actix_web::http::Method;
use actix_web::{HttpResponse, web};

use crate::access::Access;
use crate::audit::{self, AuditEntry};
use crate::endpoint::ApiRoute;
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::{ConsoleMode, ConsoleState, Level};
use request::{MigrationRequest, check_request};

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    vec![ApiRoute::new(
        Method::POST,
        "/api/migrations",
        Access::From(Level::Admin),
        change_schema,
    )]
}

/// `POST /api/migrations {name, sql, preview?}` → what the change does, or `{file, version, notes}`.
///
/// Errors: 403 where the schema does not change this way; 409 when folder and history disagree; 422 when PostgreSQL refuses
/// the change, with its SQLSTATE and `line`.
async fn change_schema(
    state: web::Data<ConsoleState>,
    session: Session,
    request: web::Json<MigrationRequest>,
) -> Result<HttpResponse, ConsoleError> {
    if !state.config.schema_changes {
        return Err(ConsoleError::forbidden(
            "The schema does not change by this console (selvedge.console.schema_changes is false)",
        ));
    }
    let Some(folder) = state.config.migrations_folder.clone() else {
        return Err(ConsoleError::forbidden(match state.config.mode {
            ConsoleMode::Start => {
                "The project does not apply migration files (db.migrations.enabled is false)"
            }
            ConsoleMode::Serve => "Migration files are written by the console of `selvedge start`",
        }));
    };
    let folder = folder.path()?.to_path_buf();
    let request = request.into_inner();
    check_request(&request)?;
    let permit = state.permit_statement(&session)?;
    let state = state.into_inner();
    // A separate task continues when the client disconnects: it must not be aborted between the file and the commit.
    let task = actix_web::rt::spawn(async move {
        let _permit = permit;
        if request.preview {
            // It runs as `postgres`, and not everything that it does is undone by the rollback: sequences, HTTP requests.
            let entry = AuditEntry::new("schema.preview", session.level.name()).with_statement(&request.sql);
            audit::record(&state, &session, entry.with_result("started")).await?;
            let effects = preview::try_change(&state, &request.sql).await?;
            Ok(HttpResponse::Ok().json(effects))
        } else {
            let applied = apply::apply_change(&state, &session, &folder, &request).await?;
            Ok(HttpResponse::Ok().json(applied))
        }
    });
    task.await
        .unwrap_or_else(|_| Err(ConsoleError::unavailable("The change was interrupted")))
}
