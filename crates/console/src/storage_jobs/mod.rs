//! Storage jobs: the server moves, copies or deletes whole folders of files in the background (CONSOLE-121).
//!
//! Each file is processed by a request to the storage service's public API, so limits, triggers and events are those of a client's
//! request. Progress is stored after each batch. Any node may run a job: the one whose session the job's row names does. PostgreSQL
//! ends that session when the node crashes, freezes or loses its link, and the job is free again.

mod api;
mod job;
mod lock;
mod objects;
mod progress;
mod request;
mod run;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

pub(crate) use run::run_forever;

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    let (viewer, admin) = (Access::From(Level::Viewer), Access::From(Level::Admin));
    let (list, one) = ("/api/storage/jobs", "/api/storage/jobs/{id}");
    vec![
        ApiRoute::new(Method::GET, list, viewer, api::list),
        ApiRoute::new(Method::POST, list, admin, api::create),
        ApiRoute::new(Method::GET, one, viewer, api::show),
        ApiRoute::new(Method::DELETE, one, admin, api::end),
    ]
}
