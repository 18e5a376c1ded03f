//! Whose page has sent a request: that of this project, or one that was opened while another project had this address.

use actix_web::dev::ServiceRequest;
use actix_web::http::header::HeaderName;
use actix_web::http::{Method, StatusCode};

use crate::error::ConsoleError;
use crate::state::ConsoleState;

/// The key of the project that the page shows, as `GET /api/session` has named it. Programs that are no page omit it.
const PROJECT_HEADER: HeaderName = HeaderName::from_static("x-selvedge-project");

/// Compares the project of the page with this one.
///
/// # Errors
/// 409 `other_project` when they differ; 503 when the database does not respond and the request would change something.
pub(super) async fn check(state: &ConsoleState, request: &ServiceRequest) -> Result<(), ConsoleError> {
    let mut sent = request.headers().get_all(PROJECT_HEADER).peekable();
    if sent.peek().is_none() {
        return Ok(());
    }
    let key = match state.project_key.current(&state.database).await {
        Ok(key) => key,
        // Logs and metrics are there without the database, too.
        Err(_) if matches!(*request.method(), Method::GET | Method::HEAD) => {
            let Some(key) = state.project_key.last_known() else {
                return Ok(());
            };
            key
        }
        Err(error) => return Err(error),
    };
    if sent.all(|value| value.as_bytes() == key.as_bytes()) {
        return Ok(());
    }
    let message =
        "This address serves another project than the one that the page shows, or its database was made anew";
    Err(ConsoleError::new(StatusCode::CONFLICT, "other_project", message)
        .with_hint("Nothing was changed. What you typed is kept in the page"))
}
