//! The route table: every endpoint of `/api` with the lowest level that may call it.
//!
//! The guards refuse requests that are not in the table, so every endpoint must have a level.

use std::collections::HashMap;
use std::sync::LazyLock;

use actix_web::http::Method;
use actix_web::web;

use crate::endpoint::{Access, ApiRoute};
use crate::{
    audit, auth, catalog, insights, logs, mail, migrations, objects, policies, proxy, rows, runs, series,
    session, settings, snippets, storage_jobs,
};

/// The areas of the console. Each brings its endpoints.
const AREAS: &[fn() -> Vec<ApiRoute>] = &[
    session::routes,
    audit::routes,
    catalog::routes,
    objects::routes,
    rows::routes,
    runs::routes,
    snippets::routes,
    migrations::routes,
    proxy::routes,
    logs::routes,
    series::routes,
    mail::routes,
    policies::routes,
    insights::routes,
    settings::routes,
    auth::routes,
    storage_jobs::routes,
];

/// Mounts every endpoint.
pub(crate) fn configure(app: &mut web::ServiceConfig) {
    for route in AREAS.iter().flat_map(|routes| routes()) {
        app.route(route.path, route.route);
    }
}

/// Every endpoint of `/api` as (method, path, access), in the order of the areas.
pub fn list_routes() -> Vec<(String, &'static str, Access)> {
    AREAS
        .iter()
        .flat_map(|routes| routes())
        .map(|route| (route.method.to_string(), route.path, route.access))
        .collect()
}

/// Returns who may call the endpoint with this method and path pattern; `None` when there is none.
pub(crate) fn find_access(method: &Method, pattern: &str) -> Option<Access> {
    static TABLE: LazyLock<HashMap<(Method, &'static str), Access>> = LazyLock::new(|| {
        AREAS
            .iter()
            .flat_map(|routes| routes())
            .map(|route| ((route.method, route.path), route.access))
            .collect()
    });
    // HEAD has no handlers; only the proxy, which passes it on, lists it. The table has some dozens of entries, so a search
    // is cheaper than building a key for a map.
    TABLE
        .iter()
        .find(|((known, path), _)| known == method && *path == pattern)
        .map(|(_, access)| *access)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_170_every_endpoint_is_listed_once_below_api() {
        let routes = list_routes();
        for (index, (method, path, _)) in routes.iter().enumerate() {
            assert!(path.starts_with("/api/"), "{path}");
            let again = routes[index + 1..]
                .iter()
                .any(|(m, p, _)| m == method && p == path);
            assert!(!again, "{method} {path} is listed twice");
        }
    }
}
