//! HTTP endpoints that belong to no service: health, metrics and the status page.

pub mod health;
pub(crate) mod metrics;
mod plain_port;
mod status_page;

use actix_web::{HttpRequest, HttpResponse, web};
use selvedge_gateway::GatewayError;

pub use health::Health;
pub use plain_port::{PlainPort, configure_plain_port};
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

/// Who may read `/metrics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsAudience {
    /// Whoever reaches the server; a proxy in front may refuse others.
    Everybody,
    /// Programs of this machine: the server is reached from everywhere without a proxy.
    ThisMachine,
}

/// As [`render_metrics`], for programs of this machine. Others are not told that there are any.
async fn render_metrics_here(request: HttpRequest) -> HttpResponse {
    match request.peer_addr() {
        Some(peer) if !peer.ip().to_canonical().is_loopback() => respond_no_route().await,
        _ => render_metrics().await,
    }
}

/// Mounts `/metrics`.
pub fn configure_metrics(audience: MetricsAudience) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        let route = match audience {
            MetricsAudience::Everybody => web::get().to(render_metrics),
            MetricsAudience::ThisMachine => web::get().to(render_metrics_here),
        };
        config.route("/metrics", route);
    }
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

#[cfg(test)]
mod tests {
    use actix_web::App;
    use actix_web::test::{TestRequest, call_service, init_service};

    use super::*;

    #[actix_web::test]
    async fn prod_023_metrics_of_a_public_server_are_served_to_this_machine_only() {
        let status = |audience, peer: &'static str| async move {
            let app = init_service(App::new().configure(configure_metrics(audience))).await;
            let request = TestRequest::get()
                .uri("/metrics")
                .peer_addr(peer.parse().unwrap());
            call_service(&app, request.to_request()).await.status().as_u16()
        };

        assert_eq!(status(MetricsAudience::ThisMachine, "203.0.113.7:1").await, 404);
        assert_eq!(status(MetricsAudience::ThisMachine, "127.0.0.1:1").await, 200);
        assert_eq!(
            status(MetricsAudience::ThisMachine, "[::ffff:127.0.0.1]:1").await,
            200
        );
        assert_eq!(status(MetricsAudience::Everybody, "203.0.113.7:1").await, 200);
    }
}
