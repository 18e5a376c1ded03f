//! Mounts the service in an actix application: one handler for all paths, whose requests go to [`routes`](crate::routes).

use actix_web::{HttpRequest, HttpResponse, web};

use crate::error::StorageError;
use crate::maintenance;
use crate::routes;
use crate::state::StorageWorker;

/// Mounts the service inside the scope of its prefix.
pub fn configure(worker: StorageWorker) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
    Box::new(move |config: &mut web::ServiceConfig| {
        // Every worker calls this function; the first one runs the expiry for the whole process.
        if worker.storage().claim_upload_expiry() {
            actix_web::rt::spawn(maintenance::expire_uploads_forever(worker.clone()));
        }
        // One handler for all paths: actix would decode and normalise a path before matching it, and keys are opaque. It is not
        // a resource with a pattern, because a regular expression would be searched for in each path.
        config
            .app_data(web::Data::new(worker))
            .default_service(web::to(serve_request));
    })
}

async fn serve_request(
    worker: web::Data<StorageWorker>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    routes::serve_request(StorageWorker::clone(&worker), request, payload).await
}
