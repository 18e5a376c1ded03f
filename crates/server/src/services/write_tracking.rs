//! Remembers who wrote through auth, storage and functions, so that their next reads see it although replicas lag behind, and finds the primary to
//! which somebody has written through another node.
//!
//! The REST service does the former itself. Here nothing is known of a request but its method, so some callers read from the
//! primary for a fraction of a second without need.

use std::sync::Arc;

use actix_web::Error;
use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::middleware::Next;
use selvedge_gateway::{Bearer, Caller, find_written_timeline, set_last_writer};
use selvedge_postgres::{Replicas, Writer};

/// Which requests of a service may write.
#[derive(Clone, Copy)]
pub(super) enum MayWrite {
    /// All but GET and HEAD. What a link in a mail changes by a GET is followed by a new token, which counts as a write.
    ByMethod,
    /// All: the project's own code decides what a request does.
    Always,
    /// The service remembers it itself.
    Remembered,
}

impl MayWrite {
    fn includes(self, method: &Method) -> bool {
        let is_read = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
        match self {
            Self::ByMethod => !is_read,
            Self::Always => true,
            Self::Remembered => false,
        }
    }
}

/// Runs a request, and remembers its caller if it may have written.
pub(super) async fn track_writes(
    replicas: Arc<Replicas>,
    may_write: MayWrite,
    request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    // In a split of two primaries this node may not know the newer one yet, where the client's row or file is.
    replicas
        .follow_timeline(find_written_timeline(request.headers()))
        .await;
    if !may_write.includes(request.method()) {
        return next.call(request).await;
    }
    let caller = Caller::extract(request.request());
    let result = next.call(request).await;
    // Also after an error: it does not prove that nothing was written.
    replicas.record_write(writer(caller.bearer()));
    let mut response = result?;
    set_last_writer(
        response.headers_mut(),
        replicas.node(),
        replicas.timeline(),
        replicas.max_lag(),
    );
    Ok(response)
}

fn writer(bearer: &Bearer) -> Writer {
    match bearer {
        Bearer::Valid(claims) => Writer::from_claims(claims.subject(), claims.role()),
        Bearer::None | Bearer::Invalid(_) => Writer::from_claims(None, None),
    }
}
