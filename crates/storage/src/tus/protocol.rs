//! Constants of the TUS protocol, and the headers that all its responses share.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderName;
use actix_web::{HttpResponse, HttpResponseBuilder};
use chrono::{DateTime, Utc};

/// Header with the protocol version; required in requests, present in every response.
pub(super) const TUS_RESUMABLE: &str = "tus-resumable";
/// The protocol version that we speak.
pub(super) const VERSION: &str = "1.0.0";
/// Protocol extensions, as `Tus-Extension` lists them.
pub(super) const EXTENSIONS: &str =
    "creation,creation-with-upload,creation-defer-length,termination,expiration";
/// Content type of a body whose bytes belong to the upload.
pub(super) const OFFSET_STREAM: &str = "application/offset+octet-stream";

/// A response with the protocol's version header.
pub(super) fn build_response(status: StatusCode) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response.insert_header((TUS_RESUMABLE, VERSION));
    response
}

/// `Upload-Expires`: when an unfinished upload is removed.
pub(super) fn expires_header(at: DateTime<Utc>) -> (HeaderName, String) {
    let text = at.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    (HeaderName::from_static("upload-expires"), text)
}
