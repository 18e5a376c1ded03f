//! Tickets: each allows the session that requested it to download rows once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use actix_web::http::StatusCode;
use serde::Deserialize;

use super::format::ExportFormat;
use crate::error::ConsoleError;
use crate::rows::request::{Filter, Sort};
use crate::session::{Session, random_secret};
use crate::subject::Subject;

/// Lifetime of a ticket; the download follows immediately.
pub(super) const LIFETIME: Duration = Duration::from_secs(30);
/// The largest number of unused tickets, so that they cannot fill the memory.
const MAX_TICKETS: usize = 1000;
/// One session cannot take the tickets of all others.
const MAX_TICKETS_OF_SESSION: usize = 10;

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

/// The open tickets of a console.
#[derive(Default)]
pub(crate) struct ExportTickets(Mutex<HashMap<String, Ticket>>);

impl ExportTickets {
    /// Keeps the request for its download, and returns the ticket's name.
    ///
    /// # Errors
    /// 429 when the session has ten open tickets, 503 when the console has a thousand.
    pub(super) fn add(
        &self,
        session: Session,
        request: ExportRequest,
        now: Instant,
    ) -> Result<String, ConsoleError> {
        let mut tickets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Unused tickets are only removed here.
        tickets.retain(|_, ticket| ticket.expires > now);
        if tickets.len() >= MAX_TICKETS {
            return Err(ConsoleError::unavailable("Too many exports are waiting to begin"));
        }
        let own = tickets
            .values()
            .filter(|ticket| ticket.session.is_same_as(&session))
            .count();
        if own >= MAX_TICKETS_OF_SESSION {
            return Err(ConsoleError::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many",
                "Ten exports of this session are waiting to begin",
            ));
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
    pub(super) fn take(
        &self,
        name: &str,
        session: &Session,
        now: Instant,
    ) -> Result<ExportRequest, ConsoleError> {
        let mut tickets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // It is looked at before it is taken, because a stranger's attempt must not use it up.
        let is_valid = tickets
            .get(name)
            .is_some_and(|ticket| ticket.session.is_same_as(session) && ticket.expires > now);
        let ticket = if is_valid { tickets.remove(name) } else { None };
        ticket.map(|ticket| ticket.request).ok_or_else(|| {
            ConsoleError::not_found("The export has begun already, or its 30 seconds are over")
        })
    }
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
        let tickets = ExportTickets::default();
        let now = Instant::now();
        let mine = Session::for_test("vera", Level::Viewer, [1; 32]);
        let other = Session::for_test("vera", Level::Viewer, [2; 32]);

        let ticket = tickets.add(mine.clone(), request(), now).expect("room");
        assert!(tickets.take(&ticket, &other, now).is_err());
        assert!(tickets.take(&ticket, &mine, now).is_ok());
        assert!(tickets.take(&ticket, &mine, now).is_err());

        let late = tickets.add(mine.clone(), request(), now).expect("room");
        assert!(tickets.take(&late, &mine, now + LIFETIME).is_err());
    }

    #[test]
    fn console_058_one_session_cannot_take_the_tickets_of_all_others() {
        let tickets = ExportTickets::default();
        let now = Instant::now();
        let mine = Session::for_test("vera", Level::Viewer, [1; 32]);
        for _ in 0..MAX_TICKETS_OF_SESSION {
            tickets.add(mine.clone(), request(), now).expect("room");
        }

        let refused = tickets.add(mine.clone(), request(), now).expect_err("no room");
        assert_eq!(refused.code(), "too_many");
        let other = Session::for_test("vera", Level::Viewer, [2; 32]);
        assert!(tickets.add(other, request(), now).is_ok());
        assert!(tickets.add(mine, request(), now + LIFETIME).is_ok());
    }
}
