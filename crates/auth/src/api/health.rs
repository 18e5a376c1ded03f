//! `GET /health` → `{version, name, description}`. Source: Auth contract §2.2, AUTH-096.

use actix_web::HttpResponse;
use serde::Serialize;

/// Body of the response, which depends on nothing but the running process: the database is not asked.
#[derive(Serialize)]
struct HealthBody {
    version: &'static str,
    /// Compat: tools look for upstream's name.
    name: &'static str,
    description: &'static str,
}

/// `GET /health` → 200 `{version, name, description}`.
pub(crate) async fn get_health() -> HttpResponse {
    HttpResponse::Ok().json(HealthBody {
        version: concat!("v", env!("CARGO_PKG_VERSION")),
        name: "GoTrue",
        description: "GoTrue is a user registration and authentication API",
    })
}
