//! The fixed table of all endpoints with the lowest level that may call them.
//!
//! It is written by hand and beside the code, so that an endpoint cannot change its level, or come without one, by mistake.

use selvedge_console::{Access, Level, list_routes};

/// Method, path and lowest level of every endpoint.
const LEVELS: &[(&str, &str, &str)] = &[
    ("GET", "/api/session", "open"),
    ("POST", "/api/session", "open"),
    ("DELETE", "/api/session", "viewer"),
    ("GET", "/api/accounts", "admin"),
    ("GET", "/api/audit", "admin"),
    ("GET", "/api/catalog", "viewer"),
    ("GET", "/api/objects/{kind}", "viewer"),
    ("GET", "/api/objects/{kind}/{oid}", "viewer"),
    ("POST", "/api/rows/read", "viewer"),
    ("POST", "/api/rows/count", "viewer"),
    ("POST", "/api/rows/cell", "viewer"),
    ("POST", "/api/rows/export", "viewer"),
    ("GET", "/api/rows/export/{ticket}", "ticket"),
    ("POST", "/api/rows/import", "admin"),
    ("POST", "/api/rows/apply", "admin"),
    ("POST", "/api/rows/apply/settle", "admin"),
    ("POST", "/api/sql/runs", "viewer"),
    ("DELETE", "/api/sql/runs/{id}", "viewer"),
    ("POST", "/api/sql/explain", "viewer"),
    ("POST", "/api/sql/count", "viewer"),
    ("POST", "/api/migrations", "admin"),
    ("GET", "/api/sql/snippets", "viewer"),
    ("GET", "/api/sql/snippets/{name}", "viewer"),
    ("PUT", "/api/sql/snippets/{name}", "viewer"),
    ("DELETE", "/api/sql/snippets/{name}", "viewer"),
    ("GET", "/api/proxy/{service}/{path:.*}", "viewer"),
    ("HEAD", "/api/proxy/{service}/{path:.*}", "viewer"),
    ("POST", "/api/proxy/{service}/{path:.*}", "admin"),
    ("PUT", "/api/proxy/{service}/{path:.*}", "admin"),
    ("PATCH", "/api/proxy/{service}/{path:.*}", "admin"),
    ("DELETE", "/api/proxy/{service}/{path:.*}", "admin"),
    ("OPTIONS", "/api/proxy/{service}/{path:.*}", "admin"),
    ("GET", "/api/logs", "viewer"),
    ("GET", "/api/logs/tail", "viewer"),
    ("GET", "/api/logs/{request_id}", "viewer"),
    ("GET", "/api/series", "viewer"),
    ("GET", "/api/mail", "admin"),
    ("DELETE", "/api/mail", "admin"),
    ("GET", "/api/mail/{id}", "admin"),
    ("DELETE", "/api/mail/{id}", "admin"),
    ("POST", "/api/mail/{id}/retry", "admin"),
    ("GET", "/api/access", "viewer"),
    ("POST", "/api/simulate", "viewer"),
    ("GET", "/api/advisors", "viewer"),
    ("PUT", "/api/advisors/muted/{key:.*}", "admin"),
    ("DELETE", "/api/advisors/muted/{key:.*}", "admin"),
    ("GET", "/api/slow-queries", "viewer"),
    ("GET", "/api/sizes", "viewer"),
    ("GET", "/api/settings", "admin"),
    ("GET", "/api/doctor", "admin"),
    ("GET", "/api/auth/sessions", "viewer"),
    ("DELETE", "/api/auth/sessions", "admin"),
    ("DELETE", "/api/auth/sessions/{id}", "admin"),
    ("POST", "/api/auth/impersonate", "admin"),
    ("GET", "/api/auth/configuration", "admin"),
    ("POST", "/api/auth/configuration/trials", "admin"),
    ("GET", "/api/storage/jobs", "viewer"),
    ("POST", "/api/storage/jobs", "admin"),
    ("GET", "/api/storage/jobs/{id}", "viewer"),
    ("DELETE", "/api/storage/jobs/{id}", "admin"),
];

#[test]
fn console_182_every_endpoint_has_the_level_of_the_fixed_table() {
    let name_of = |access| match access {
        Access::Open => "open",
        Access::Ticket => "ticket",
        Access::From(Level::Viewer) => "viewer",
        Access::From(Level::Admin) => "admin",
    };
    let mut found: Vec<_> = list_routes()
        .into_iter()
        .map(|(method, path, access)| (method, path, name_of(access)))
        .collect();
    let mut expected: Vec<_> = LEVELS
        .iter()
        .map(|(method, path, level)| ((*method).to_owned(), *path, *level))
        .collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}
