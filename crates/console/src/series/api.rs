//! `GET /api/series?since=`

use actix_web::{HttpResponse, web};
use serde::Deserialize;

use crate::error::ConsoleError;
use crate::state::ConsoleState;

/// The query of `GET /api/series`.
#[derive(Deserialize)]
pub(super) struct SeriesQuery {
    /// Leaves out values up to this time in seconds since 1970, which the page has already.
    since: Option<i64>,
}

/// `GET /api/series`: measurements of this node in steps of a second, ten seconds and a minute.
pub(super) async fn list(
    state: web::Data<ConsoleState>,
    query: web::Query<SeriesQuery>,
) -> Result<HttpResponse, ConsoleError> {
    Ok(HttpResponse::Ok().json(state.recorder.to_json(query.since)))
}
