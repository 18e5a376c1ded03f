//! HTTP endpoints that belong to no service: health, metrics and the status page.

pub mod health;
mod metrics;
mod status_page;

use actix_web::{HttpResponse, web};
use selvedge_gateway::GatewayError;

pub use health::Health;
pub use status_page::{StatusPage, show_status_page};

/// The gateway's 404 for a path that no route matches.
pub async fn respond_no_route() -> HttpResponse {
    GatewayError::NoRoute.response()
}

/// `GET /metrics`: the metrics in Prometheus' text format.
pub async fn render_metrics() -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(selvedge_gateway::metrics::render_prometheus())
}

/// Mounts `/health`, `/health/live` and `/health/ready`.
pub fn configure_health(health: web::Data<Health>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config
            .app_data(health)
            .route("/health", web::get().to(health::report_readiness))
            .route("/health/live", web::get().to(health::report_liveness))
            .route("/health/ready", web::get().to(health::report_readiness));
    }
}
