//! The table of statuses and codes, and the body of error responses: `{statusCode, error, message, code}`.
//!
//! Compat: except for a few errors the HTTP status is 400 and the real status is sent as text in `statusCode` (a
//! missing object is HTTP 400 with `"404"`). Applications read the body's field, so it must stay.

use std::borrow::Cow;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};
use serde::Serialize;

use super::StorageError;

/// How an error is sent: HTTP status, `statusCode`, `error` and `code`.
pub(super) struct Wire {
    http: StatusCode,
    status_code: u16,
    error: Cow<'static, str>,
    pub(super) code: &'static str,
}

/// The body of every error, its fields in the contract's order.
#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "statusCode")]
    status_code: String,
    error: &'a str,
    message: &'a str,
    code: &'a str,
}

impl StorageError {
    /// The table: one row per error. One exhaustive match although it is long, so that the compiler reports a variant
    /// without a row.
    pub(super) fn wire(&self) -> Wire {
        use StorageError as E;
        // `legacy` answers HTTP 400 (or 500) with the real status in the body, `plain` answers the real HTTP status.
        let legacy = |status_code, error: &'static str, code| Wire {
            http: if status_code == 500 {
                StatusCode::INTERNAL_SERVER_ERROR
            } else {
                StatusCode::BAD_REQUEST
            },
            status_code,
            error: Cow::Borrowed(error),
            code,
        };
        let plain = |status_code: u16, error: &'static str, code| Wire {
            http: StatusCode::from_u16(status_code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            status_code,
            error: Cow::Borrowed(error),
            code,
        };
        match self {
            E::NoSuchBucket => legacy(404, "Bucket not found", "NoSuchBucket"),
            E::NoSuchKey => legacy(404, "not_found", "NoSuchKey"),
            E::NoSuchLifecycleConfiguration => legacy(
                404,
                "NoSuchLifecycleConfiguration",
                "NoSuchLifecycleConfiguration",
            ),
            E::BlobMissing => legacy(404, "Not found", "NoSuchKey"),
            E::AccessDenied(_) => legacy(403, "Unauthorized", "AccessDenied"),
            E::InvalidRole => plain(403, "Unauthorized", "AccessDenied"),
            E::KeyAlreadyExists => legacy(409, "Duplicate", "KeyAlreadyExists"),
            E::BucketAlreadyExists => legacy(409, "Duplicate", "BucketAlreadyExists"),
            E::ResourceAlreadyExists => legacy(409, "Duplicate", "ResourceAlreadyExists"),
            E::ResourceNotEmpty => legacy(409, "ResourceNotEmpty", "ResourceNotEmpty"),
            E::ResourceReferenced(_) => legacy(409, "ResourceReferenced", "ResourceReferenced"),
            E::RelatedResourceMissing => legacy(404, "InvalidRequest", "InvalidRequest"),
            E::TooManyToEmpty => legacy(409, "InvalidRequest", "InvalidRequest"),
            E::Schema(_) => legacy(400, "Error", "InvalidRequest"),
            E::EmptyJson | E::BrokenJson => legacy(400, "FastifyError", "InvalidRequest"),
            E::JsonTooLarge => plain(413, "FastifyError", "EntityTooLarge"),
            E::NoContent | E::BrokenForm(_) => legacy(400, "InvalidRequest", "InvalidRequest"),
            E::InvalidRobotsTag(_) => legacy(400, "invalid_x_robots_tag", "InvalidRequest"),
            E::InvalidHeaderCharacter(_) => legacy(400, "invalid_header_char", "InvalidRequest"),
            E::InvalidBucketName => legacy(400, "Invalid Input", "InvalidBucketName"),
            E::InvalidKey(_) => legacy(400, "InvalidKey", "InvalidKey"),
            E::InvalidMimeType(_) | E::InvalidContentType => {
                legacy(415, "invalid_mime_type", "InvalidMimeType")
            }
            E::EntityTooLarge | E::UserMetadataTooLarge => legacy(413, "Payload too large", "EntityTooLarge"),
            E::Unrenderable(_) => legacy(400, "InvalidRequest", "InvalidRequest"),
            E::RenderTimeout => legacy(408, "InvalidRequest", "InvalidRequest"),
            E::RenderOverload | E::RenderRate | E::TooManyUnfinished => {
                plain(429, "Too Many Requests", "SlowDown")
            }
            E::InvalidRange { .. } => plain(416, "invalid_range", "InvalidRange"),
            E::InvalidJwt(_) => legacy(400, "InvalidJWT", "InvalidJWT"),
            E::InvalidSignature(_) => legacy(400, "InvalidSignature", "InvalidSignature"),
            E::InvalidParameter(_) | E::InvalidText(_) => legacy(400, "InvalidParameter", "InvalidParameter"),
            E::RouteNotFound { .. } => plain(404, "Not Found", "InvalidRequest"),
            E::MalformedUrl(_) => legacy(400, "Bad Request", "InvalidRequest"),
            E::BucketTooLong => plain(414, "URI Too Long", "InvalidRequest"),
            E::FeatureNotEnabled(_) => legacy(409, "FeatureNotEnabled", "FeatureNotEnabled"),
            E::ResourceLocked => legacy(423, "ResourceLocked", "ResourceLocked"),
            E::LockTimeout | E::Deadlock => legacy(503, "acquiring_lock_timeout", "LockTimeout"),
            E::DatabaseReadOnly => legacy(503, "DatabaseReadOnly", "DatabaseReadOnly"),
            E::DatabaseSchemaMismatch => legacy(503, "DatabaseSchemaMismatch", "DatabaseSchemaMismatch"),
            E::DatabaseInvalidObjectDefinition(_) => legacy(
                503,
                "DatabaseInvalidObjectDefinition",
                "DatabaseInvalidObjectDefinition",
            ),
            // Compat: 544 is not a registered HTTP status; Supabase's service uses it for a database that does not respond
            // in time.
            E::DatabaseTimeout => plain(544, "DatabaseTimeout", "DatabaseTimeout"),
            E::DatabaseUnavailable(_) | E::ConnectionLost(_) => {
                plain(503, "ServiceUnavailable", "DatabaseUnavailable")
            }
            E::TooManyConnections => plain(429, "too_many_connections", "SlowDown"),
            E::DatabaseTransactionAborted => {
                legacy(500, "DatabaseTransactionAborted", "DatabaseTransactionAborted")
            }
            E::Database(_) | E::DistributedObjects => legacy(500, "DatabaseError", "DatabaseError"),
            E::StorageFull => plain(507, "InsufficientStorage", "InsufficientStorage"),
            E::StoreUnavailable(_) => plain(503, "ServiceUnavailable", "S3Error"),
            E::StoreSlowDown(_) | E::OutOfMemory => plain(503, "SlowDown", "SlowDown"),
            // 499 as in nginx: the client closed the connection. Usually only logs show it.
            E::Aborted => plain(499, "Aborted", "Aborted"),
            E::Internal(_) => legacy(500, "Internal", "InternalError"),
        }
    }

    /// The real status, for protocols that answer it as the HTTP status.
    pub(crate) fn real_status(&self) -> u16 {
        self.wire().status_code
    }

    /// The real status and the code, for protocols that answer both unchanged.
    pub(crate) fn real_status_and_code(&self) -> (u16, &'static str) {
        let wire = self.wire();
        (wire.status_code, wire.code)
    }
}

impl ResponseError for StorageError {
    fn status_code(&self) -> StatusCode {
        self.wire().http
    }

    fn error_response(&self) -> HttpResponse {
        let wire = self.wire();
        self.log();
        let mut response = HttpResponse::build(wire.http);
        response
            .insert_header((header::CONTENT_TYPE, "application/json; charset=utf-8"))
            .insert_header((header::CACHE_CONTROL, "no-store"));
        if let Self::InvalidRange { size_bytes } = self {
            response.insert_header((header::CONTENT_RANGE, format!("bytes */{size_bytes}")));
        }
        let message = self.to_string();
        let body = Body {
            status_code: wire.status_code.to_string(),
            error: &wire.error,
            message: &message,
            code: wire.code,
        };
        response.body(serde_json::to_string(&body).expect("four strings are always JSON"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_025_errors_carry_their_real_status_in_the_body() {
        let cases = [
            (StorageError::NoSuchBucket, 400, "404", "NoSuchBucket"),
            (StorageError::NoSuchKey, 400, "404", "NoSuchKey"),
            (StorageError::BlobMissing, 400, "404", "NoSuchKey"),
            (
                StorageError::AccessDenied(String::new()),
                400,
                "403",
                "AccessDenied",
            ),
            (StorageError::InvalidRole, 403, "403", "AccessDenied"),
            (StorageError::KeyAlreadyExists, 400, "409", "KeyAlreadyExists"),
            (
                StorageError::BucketAlreadyExists,
                400,
                "409",
                "BucketAlreadyExists",
            ),
            (
                StorageError::ResourceAlreadyExists,
                400,
                "409",
                "ResourceAlreadyExists",
            ),
            (StorageError::ResourceNotEmpty, 400, "409", "ResourceNotEmpty"),
            (StorageError::RelatedResourceMissing, 400, "404", "InvalidRequest"),
            (StorageError::Schema(String::new()), 400, "400", "InvalidRequest"),
            (StorageError::JsonTooLarge, 413, "413", "EntityTooLarge"),
            (StorageError::EntityTooLarge, 400, "413", "EntityTooLarge"),
            (
                StorageError::InvalidRange { size_bytes: 3 },
                416,
                "416",
                "InvalidRange",
            ),
            (StorageError::InvalidJwt("x"), 400, "400", "InvalidJWT"),
            (StorageError::DatabaseTimeout, 544, "544", "DatabaseTimeout"),
            (
                StorageError::DatabaseUnavailable(String::new()),
                503,
                "503",
                "DatabaseUnavailable",
            ),
            (StorageError::OutOfMemory, 503, "503", "SlowDown"),
            (StorageError::TooManyConnections, 429, "429", "SlowDown"),
            (
                StorageError::Database("P0001".to_owned()),
                500,
                "500",
                "DatabaseError",
            ),
            (StorageError::ResourceLocked, 400, "423", "ResourceLocked"),
        ];

        for (error, http, status_code, code) in cases {
            let wire = error.wire();
            assert_eq!(wire.http.as_u16(), http, "{error:?}");
            assert_eq!(wire.status_code.to_string(), status_code, "{error:?}");
            assert_eq!(wire.code, code, "{error:?}");
        }
    }
}
