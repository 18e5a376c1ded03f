//! Measurements over time for the overview (CONSOLE-040): `/api/series`. They are computed from the counters behind
//! `/metrics`.

mod api;
mod clock;
mod recorder;
mod ring;
mod sample;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

pub(crate) use clock::record_forever;
pub(crate) use recorder::Recorder;

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    vec![ApiRoute::new(
        Method::GET,
        "/api/series",
        Access::From(Level::Viewer),
        api::list,
    )]
}
