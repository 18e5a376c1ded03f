//! `GET /health` → `{version, name, description}`. Source: Auth contract §2.2, AUTH-096.

use actix_web::HttpResponse;
use serde_json::json;

pub(crate) async fn health() -> HttpResponse {
    HttpResponse::Ok().json(json!({
        "version": concat!("v", env!("CARGO_PKG_VERSION")),
        // Compat: tools look for this name.
        "name": "GoTrue",
        "description": "GoTrue is a user registration and authentication API",
    }))
}
