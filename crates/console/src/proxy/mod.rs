//! `/api/proxy/{service}/…`: the project's services under their public paths, with the service key added in process
//! (CONSOLE-016). The page never has a key.

mod api;
mod headers;
mod subject;
mod target;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

/// The endpoints of this area: one per method, because viewers may read only.
pub(crate) fn routes() -> Vec<ApiRoute> {
    let path = "/api/proxy/{service}/{path:.*}";
    let reads = [Method::GET, Method::HEAD].map(|method| (method, Level::Viewer));
    let writes = [
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ]
    .map(|method| (method, Level::Admin));
    reads
        .into_iter()
        .chain(writes)
        .map(|(method, level)| ApiRoute::new(method, path, Access::From(level), api::forward))
        .collect()
}
