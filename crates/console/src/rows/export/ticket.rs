//! `POST /api/rows/export`: a ticket for one download.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::json;

use super::format::ExportFormat;
use crate::error::ConsoleError;
use crate::rows::request::{Filter, Sort};
use crate::session::{Session, random_secret};
use crate::subject::Subject;

/// A ticket is for the download that follows at once.
const LIFETIME: Duration = Duration::from_secs(30);
/// More tickets than this cannot be open, so that nobody fills the memory with them.
const MAX_TICKETS: usize = 1000;

/// The body of a request for a ticket: the rows of the grid, and the form of the file.
#[derive(Debug, Deserialize)]
pub(in crate::rows) struct ExportRequest {
    pub(super) table: String,
    #[serde(default)]
    pub(super) columns: Option<Vec<String>>,
    #[serde(default)]
    pub(super) filters: Vec<Filter>,
    #[serde(default)]
    pub(super) sort: Vec<Sort>,
    #[serde(default)]
    pub(super) subject: Subject,
    pub(super) format: ExportFormat,
}

struct Ticket {
    session: Session,
    request: ExportRequest,
    expires: Instant,
}

static TICKETS: LazyLock<Mutex<HashMap<String, Ticket>>> = LazyLock::new(Mutex::default);

/// `POST /api/rows/export`
pub(in crate::rows) async fn create_ticket(
    session: Session,
    request: web::Json<ExportRequest>,
) -> Result<HttpResponse, ConsoleError> {
    let request = request.into_inner();
    request.subject.check_level(&session)?;
    let ticket = add_ticket(session, request, Instant::now())?;
    Ok(HttpResponse::Ok().json(json!({ "ticket": ticket, "expires_in": LIFETIME.as_secs() })))
}

fn add_ticket(session: Session, request: ExportRequest, now: Instant) -> Result<String, ConsoleError> {
    let mut tickets = TICKETS.lock().unwrap_or_else(PoisonError::into_inner);
    // Nothing else removes tickets that were never used.
    tickets.retain(|_, ticket| ticket.expires > now);
    if tickets.len() >= MAX_TICKETS {
        return Err(ConsoleError::unavailable("Too many exports are waiting to begin"));
    }
    let name = random_secret();
    let expires = now + LIFETIME;
    tickets.insert(
        name.clone(),
        Ticket {
            session,
            request,
            expires,
        },
    );
    Ok(name)
}

/// Takes a ticket out, so that it works once. Another session's attempt leaves it where it is.
///
/// # Errors
/// 404 when it was used, has expired, or is another session's.
pub(super) fn take_ticket(
    name: &str,
    session: &Session,
    now: Instant,
) -> Result<ExportRequest, ConsoleError> {
    let mut tickets = TICKETS.lock().unwrap_or_else(PoisonError::into_inner);
    // It is looked at before it is taken, because a stranger's attempt must not use it up.
    let is_valid = tickets
        .get(name)
        .is_some_and(|ticket| ticket.session.is_same_as(session) && ticket.expires > now);
    let ticket = if is_valid { tickets.remove(name) } else { None };
    ticket
        .map(|ticket| ticket.request)
        .ok_or_else(|| ConsoleError::not_found("The export has begun already, or its 30 seconds are over"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Level;

    fn request() -> ExportRequest {
        serde_json::from_str(r#"{"table":"1","format":"csv"}"#).expect("valid")
    }

    #[test]
    fn console_058_a_ticket_is_for_one_use_within_30_seconds_by_its_session() {
        let now = Instant::now();
        let mine = Session::for_test("vera", Level::Viewer, [1; 32]);
        let other = Session::for_test("vera", Level::Viewer, [2; 32]);

        let ticket = add_ticket(mine.clone(), request(), now).expect("room");
        assert!(take_ticket(&ticket, &other, now).is_err());
        assert!(take_ticket(&ticket, &mine, now).is_ok());
        assert!(take_ticket(&ticket, &mine, now).is_err());

        let late = add_ticket(mine.clone(), request(), now).expect("room");
        assert!(take_ticket(&late, &mine, now + LIFETIME).is_err());
    }
}
