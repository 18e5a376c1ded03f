//! The HTTP surface outside of the services: health, metrics, what is not there, and the front page.

pub mod health;
mod placeholders;
mod status_page;

use actix_web::{HttpResponse, web};
use selvedge_gateway::{GatewayError, metrics};

pub use health::Health;
pub use placeholders::{configure_functions, configure_graphql, configure_realtime};
pub use status_page::{StatusPage, show as show_status_page};

/// The gateway's answer to a path that belongs to nobody.
pub async fn no_route() -> HttpResponse {
    GatewayError::NoRoute.response()
}

/// `GET /metrics`: the text that Prometheus scrapes.
pub async fn render_metrics() -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(metrics::render())
}

/// `/health`, `/health/live` and `/health/ready`.
pub fn configure_health(health: web::Data<Health>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config
            .app_data(health)
            .route("/health", web::get().to(health::report_readiness))
            .route("/health/live", web::get().to(health::report_liveness))
            .route("/health/ready", web::get().to(health::report_readiness));
    }
}
