//! How the resumable protocol says no: plain text under the real status, unlike the rest of the service.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};

use super::{TUS_RESUMABLE, VERSION};
use crate::error::StorageError;

/// A refused request of the resumable protocol. Texts of the protocol itself end with a line break, as the original's do.
#[derive(Debug)]
pub(super) enum Refusal {
    /// A header is missing where another one asks for it.
    VersionRequired,
    /// Headers that do not follow their grammar.
    InvalidHeaders(Vec<&'static str>),
    /// Neither or both of the two ways to say how long the upload is.
    LengthRequired,
    /// `Upload-Metadata` is missing.
    MetadataRequired,
    /// PATCH without `Upload-Offset`.
    OffsetRequired,
    /// PATCH without `Content-Type`.
    ContentTypeRequired,
    /// `Upload-Concat`.
    Concatenation,
    /// The address names no upload.
    InvalidId,
    /// No such upload.
    NotFound,
    /// The upload has ended.
    Gone,
    /// The client and we disagree about what was received.
    OffsetConflict,
    /// The declared length exceeds the limit.
    TooLong,
    /// More bytes came than were declared.
    SizeExceeded,
    /// DELETE of a finished upload.
    AlreadyComplete,
    /// A signed route without its signature.
    SignatureRequired,
    /// Another request took the upload over.
    TakenOver,
    /// No byte came for too long.
    Idle,
    /// What the service as a whole refuses.
    Storage(StorageError),
}

impl From<StorageError> for Refusal {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl Refusal {
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
            // What is left of the body is not worth reading.
            response.force_close();
        }
        response.body(text)
    }
}
