//! The route table: every endpoint of `/api` with the lowest level that may call it.

use actix_web::web;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::{
    audit, auth, catalog, guards, insights, logs, mail, migrations, objects, policies, proxy, rows, runs,
    series, session, settings, snippets, storage_jobs,
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

/// Mounts every endpoint, and an error for all other paths below `/api/`.
pub(crate) fn configure(app: &mut web::ServiceConfig) {
    for route in AREAS.iter().flat_map(|routes| routes()) {
        app.route(route.path, route.route);
    }
    app.route("/api/{path:.*}", web::to(guards::refuse_unknown_endpoint));
}

/// Every endpoint of `/api` as (method, path, access), in the order of the areas.
pub fn list_routes() -> Vec<(String, &'static str, Access)> {
    AREAS
        .iter()
        .flat_map(|routes| routes())
        .map(|route| (route.method.to_string(), route.path, route.access))
        .collect()
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
