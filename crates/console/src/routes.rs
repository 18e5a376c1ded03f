//! The route table: every endpoint of `/api` with the lowest level that may call it.

use actix_web::middleware::from_fn;
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
///
/// The check of the caller is part of each route. So it runs for every spelling of an address that the router takes for its path,
/// encoded letters included.
pub(crate) fn configure(app: &mut web::ServiceConfig) {
    for ApiRoute {
        path, route, access, ..
    } in AREAS.iter().flat_map(|routes| routes())
    {
        let check = from_fn(move |request, next| guards::admit(access, request, next));
        app.route(path, route.wrap(check));
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
