//! `POST /api/simulate`: explains a request of a subject, runs it, and compares both.

use actix_web::{HttpResponse, web};
use selvedge_policies::{Connections, Options, Request, SimulationError, UnsavedPolicy, Verb, simulate};
use selvedge_postgres::{Login, quote_identifier};
use serde::Deserialize;

use super::subject::SubjectChoice;
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::{ConsoleMode, ConsoleState, Level};

/// The body of `POST /api/simulate`.
#[derive(Debug, Deserialize)]
pub(super) struct Body {
    subject: SubjectChoice,
    request: Request,
    #[serde(default)]
    policies: Vec<UnsavedPolicy>,
    /// Whether a real write fires triggers in `serve`; under `start` it always does.
    #[serde(default)]
    triggers: bool,
}

/// `POST /api/simulate`
pub(super) async fn run(
    state: web::Data<ConsoleState>,
    session: Session,
    body: web::Json<Body>,
) -> Result<HttpResponse, ConsoleError> {
    let Body {
        subject,
        request,
        policies,
        triggers,
    } = body.into_inner();
    let _permit = state.permit_statement(&session)?;
    let subject = subject.resolve(&state).await?;
    // Only an admin's own texts are run; a viewer sees what the saved policies say.
    let is_admin = session.level >= Level::Admin;
    let options = Options {
        exposed_schemas: state.config.exposed_schemas.clone(),
        search_path: search_path(&state.config.exposed_schemas),
        run_for_real: is_admin,
        fire_triggers: triggers || state.config.mode == ConsoleMode::Start,
    };
    if is_admin && let Some(statement) = written_statement(&request) {
        let entry = AuditEntry::new("policies.simulate", &subject.role).with_statement(statement);
        audit::record(&state, &session, entry.with_result("started")).await?;
    }
    let mut owner = state.database.connection(session.level).await?;
    let database = state.database.shared();
    // A new connection that is closed afterwards, because an SQL text may change its session.
    let pool = database.pool(Login::Authenticator, 1);
    let mut caller = pool.get().await?;
    let connections = Connections {
        owner: &mut owner,
        caller: &mut caller,
        roles: &database.role_settings(),
    };
    let report = simulate(connections, &options, subject, request, &policies).await?;
    Ok(HttpResponse::Ok().json(report))
}

/// Returns the statement for the audit entry, which is written before the statement runs: SQL texts, and writes, whose
/// triggers may send requests.
fn written_statement(request: &Request) -> Option<&str> {
    match request {
        Request::Sql { text } => Some(text),
        Request::Verb(request) if request.verb != Verb::Select => Some("a write that is rolled back"),
        Request::Rest { method, path, .. } if !method.eq_ignore_ascii_case("get") => Some(path),
        _ => None,
    }
}

/// The search path of the API's requests: the first exposed schema, and those that every project has.
fn search_path(exposed: &[String]) -> String {
    let mut schemas: Vec<&str> = exposed.first().map(String::as_str).into_iter().collect();
    for name in ["public", "extensions"] {
        if !schemas.contains(&name) {
            schemas.push(name);
        }
    }
    let quoted: Vec<String> = schemas.into_iter().map(quote_identifier).collect();
    quoted.join(", ")
}

impl From<SimulationError> for ConsoleError {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::NoTable => Self::not_found("There is no such table."),
            SimulationError::NoRole(_) | SimulationError::Invalid(_) => Self::invalid(error.to_string()),
            SimulationError::Database(error) => error.into(),
        }
    }
}
