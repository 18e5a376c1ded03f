//! The HTTP API: broadcasts without a WebSocket, and a ping (realtime contract §8.4–8.6).

mod batch;
mod caller;
mod error;
mod single;

use std::rc::Rc;
use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};

use crate::socket::refuse_plain_request;
use crate::state::Worker;
use error::ApiError;

/// Mounts the routes below `/realtime/v1`.
pub(crate) fn configure(worker: Rc<Worker>) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
    Box::new(move |config| {
        config
            .app_data(web::Data::from(Arc::clone(&worker.shared)))
            .route("/api/ping", web::get().to(ping))
            .route("/api/broadcast", web::post().to(batch::broadcast_batch))
            .route(
                // One catch-all segment: topic and event may contain encoded slashes, which the router would decode.
                "/api/broadcast/{path:.*}",
                web::post().to(single::broadcast_single),
            )
            .route("/websocket", web::route().to(plain_request))
            .default_service(web::to(|| async { ApiError::NoRoute }));
    })
}

/// `GET /realtime/v1/api/ping`
async fn ping() -> HttpResponse {
    HttpResponse::Ok().json(serde_json::json!({ "message": "Success" }))
}

/// Answers a request to the WebSocket path that is not an upgrade.
async fn plain_request(request: HttpRequest) -> HttpResponse {
    refuse_plain_request(&request)
}
