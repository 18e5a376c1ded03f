//! Method → operation of the TUS protocol.

use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, web};

use super::error::TusError;
use super::headers::check_headers;
use super::protocol::{EXTENSIONS, VERSION, build_response};
use super::request::TusRequest;
use super::upload_id::UploadId;
use crate::context::RequestContext;
use crate::error::StorageError;
use crate::state::{Storage, StorageWorker};

/// A path below `/upload/resumable`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResumableRoute {
    /// Whether the path is below `/sign`, where an upload token replaces the caller's token.
    pub(crate) signed: bool,
    /// The upload's id, as it was sent.
    pub(crate) upload: Option<String>,
}

/// Serves one request of the protocol.
///
/// # Errors
/// A missing or invalid token. All other errors become responses here, in the protocol's plain text.
pub(crate) async fn serve_request(
    worker: StorageWorker,
    request: HttpRequest,
    payload: web::Payload,
    route: ResumableRoute,
) -> Result<HttpResponse, StorageError> {
    let operation = operation(request.method(), route.signed);
    let context = RequestContext::new(worker, request, operation);
    if context.request.method() == Method::OPTIONS {
        return Ok(get_capabilities(context.storage()));
    }
    let caller = match route.signed {
        true => None,
        false => Some(context.caller_with_token()?),
    };
    let request = TusRequest { context, caller };
    Ok(dispatch(request, &route, payload)
        .await
        .unwrap_or_else(|error| error.response()))
}

async fn dispatch(
    request: TusRequest,
    route: &ResumableRoute,
    payload: web::Payload,
) -> Result<HttpResponse, TusError> {
    check_headers(&request.context.request)?;
    if request.context.request.method() == Method::POST {
        return super::create::create_upload(request, payload).await;
    }
    let id = UploadId::parse(route.upload.as_deref().unwrap_or_default())?;
    match *request.context.request.method() {
        Method::HEAD => super::head::get_upload_offset(&request, &id).await,
        Method::DELETE => super::terminate::terminate_upload(&request, &id).await,
        // PATCH: the route parser lets no other method through.
        _ => super::patch::append_bytes(request, &id, payload).await,
    }
}

/// The value of `storage.operation()` in policies.
fn operation(method: &Method, signed: bool) -> &'static str {
    match (method, signed) {
        (&Method::POST, false) => "storage.tus.upload.create",
        (&Method::POST, true) => "storage.tus.upload.create_signed",
        (&Method::PATCH, false) => "storage.tus.upload.part",
        (&Method::PATCH, true) => "storage.tus.upload.part_signed",
        (&Method::HEAD, false) => "storage.tus.upload.get",
        (&Method::HEAD, true) => "storage.tus.upload.get_signed",
        (&Method::DELETE, false) => "storage.tus.upload.delete",
        (&Method::DELETE, true) => "storage.tus.upload.delete_signed",
        _ => "storage.tus.options",
    }
}

/// `OPTIONS`: version, extensions and the largest upload; needs no token. Source: STORE-087.
fn get_capabilities(storage: &Storage) -> HttpResponse {
    build_response(StatusCode::NO_CONTENT)
        .insert_header(("tus-version", VERSION))
        .insert_header(("tus-extension", EXTENSIONS))
        .insert_header(("tus-max-size", storage.config().file_size_limit_bytes.to_string()))
        .insert_header(("access-control-max-age", "86400"))
        .finish()
}
