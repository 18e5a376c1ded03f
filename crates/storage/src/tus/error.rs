//! Errors of the TUS protocol: plain text under the real HTTP status, unlike the JSON errors of the rest of the
//! service.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};

use super::protocol::{TUS_RESUMABLE, VERSION};
use crate::error::StorageError;
use crate::object::pending_blob::WriteError;

/// A failed request of the TUS protocol. Compat: as in the original, the protocol's own messages end with a line break.
#[derive(Debug)]
pub(super) enum TusError {
    /// `Tus-Resumable` is missing.
    VersionRequired,
    /// These headers are malformed.
    InvalidHeaders(Vec<&'static str>),
    /// Neither or both of `Upload-Length` and `Upload-Defer-Length` are given, or a declared length changes.
    LengthRequired,
    /// `Upload-Metadata` is missing.
    MetadataRequired,
    /// A PATCH has no `Upload-Offset`.
    OffsetRequired,
    /// A PATCH has no `Content-Type`.
    ContentTypeRequired,
    /// `Upload-Concat` requests an extension that is not supported.
    Concatenation,
    /// The path's id cannot be decoded.
    InvalidId,
    /// The upload does not exist.
    NotFound,
    /// The upload has expired.
    Gone,
    /// `Upload-Offset` is not the number of bytes received.
    OffsetConflict,
    /// The declared length exceeds the limit.
    TooLong,
    /// The body is longer than the declared or allowed rest of the upload.
    SizeExceeded,
    /// DELETE of an upload that is an object already.
    AlreadyComplete,
    /// A signed route without `x-signature`.
    SignatureRequired,
    /// Another request has become the writer of the upload.
    TakenOver,
    /// No data arrived for too long.
    Idle,
    /// An error of the service that is not specific to the protocol.
    Storage(StorageError),
}

impl From<StorageError> for TusError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl WriteError for TusError {
    fn may_be_committed(&self) -> bool {
        matches!(self, Self::Storage(error) if error.may_be_committed())
    }
}

impl TusError {
    /// HTTP status and body.
    fn wire(&self) -> (u16, String) {
        let line = |text: &str| format!("{text}\n");
        match self {
            Self::VersionRequired => (412, line("Tus-Resumable Required")),
            Self::InvalidHeaders(names) => (400, format!("Invalid {}\n", names.join(" "))),
            Self::LengthRequired => (400, line("Upload-Length or Upload-Defer-Length header required")),
            Self::MetadataRequired => (400, "Metadata header is required".to_owned()),
            Self::OffsetRequired => (403, line("Upload-Offset header required")),
            Self::ContentTypeRequired => (403, line("Content-Type header required")),
            Self::Concatenation => (
                501,
                line(
                    "Concatenation extension is not (yet) supported. Disable parallel uploads in the tus client.",
                ),
            ),
            Self::InvalidId => (400, "Invalid upload id".to_owned()),
            Self::NotFound => (404, line("The file for this url was not found")),
            Self::Gone => (410, line("The file for this url no longer exists")),
            Self::OffsetConflict => (409, line("Upload-Offset conflict")),
            Self::TooLong => (413, line("Maximum size exceeded")),
            Self::SizeExceeded => (413, line("upload's size exceeded")),
            Self::AlreadyComplete => (400, "Cannot terminate an already completed upload".to_owned()),
            Self::SignatureRequired => (400, "Missing x-signature header".to_owned()),
            Self::TakenOver => (423, line("Another request has taken over this upload")),
            Self::Idle => (408, line("No data was received for too long")),
            Self::Storage(error) => (error.real_status(), error.to_string()),
        }
    }

    pub(super) fn response(&self) -> HttpResponse {
        let (status, text) = self.wire();
        if let Self::Storage(error) = self {
            error.log();
        }
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = HttpResponse::build(status);
        response
            .insert_header((TUS_RESUMABLE, VERSION))
            .insert_header((CONTENT_TYPE, "text/plain; charset=utf-8"))
            .insert_header((CACHE_CONTROL, "no-store"));
        if matches!(self, Self::SizeExceeded | Self::TooLong) {
            // Closing spares us reading the rest of a body that is refused.
            response.force_close();
        }
        response.body(text)
    }
}
