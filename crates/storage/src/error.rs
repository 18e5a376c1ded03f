//! Everything the storage service can answer instead of a result, and the one table that turns it into the wire shape
//! `{statusCode, error, message, code}`.
//!
//! Compat: except for a few cases the HTTP status is 400 and the real status travels as text in `statusCode`
//! (a missing object is HTTP 400 with `"404"`). Apps test the body's field.

use std::borrow::Cow;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};
use serde::Serialize;
use tokio_postgres::error::DbError;

/// A failed storage request.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The bucket does not exist, is hidden by a policy, or is private on a public route.
    #[error("Bucket not found")]
    NoSuchBucket,
    /// The object does not exist or is hidden by a policy.
    #[error("Object not found")]
    NoSuchKey,
    /// The row exists, its bytes do not.
    #[error("The resource was not found")]
    BlobMissing,
    /// A policy, a grant or a bad token refused the request.
    #[error("{0}")]
    AccessDenied(String),
    /// The route is for the service role only.
    #[error("Access denied: Invalid role")]
    InvalidRole,
    /// An upload or copy without upsert found the key taken.
    #[error("The resource already exists")]
    KeyAlreadyExists,
    /// The bucket's id or name is taken.
    #[error("The resource already exists")]
    BucketAlreadyExists,
    /// Another unique constraint was violated, notably by a move.
    #[error("The resource already exists")]
    ResourceAlreadyExists,
    /// The bucket still holds objects.
    #[error("The bucket you tried to delete is not empty")]
    ResourceNotEmpty,
    /// Another table refers to the row.
    #[error("{0}")]
    ResourceReferenced(String),
    /// The row refers to a bucket that does not exist.
    #[error("The related resource does not exist")]
    RelatedResourceMissing,
    /// Emptying would delete more than the configured number of objects.
    #[error("Unable to empty the bucket because it contains too many objects")]
    TooManyToEmpty,
    /// Parameters, headers, query or body do not have the required form; the text names the field.
    #[error("{0}")]
    Schema(String),
    /// A JSON content type came with an empty body.
    #[error("Body cannot be empty when content-type is set to 'application/json'")]
    EmptyJson,
    /// The body is not JSON although its content type says so.
    #[error("Body is not valid JSON but content-type is set to 'application/json'")]
    BrokenJson,
    /// A JSON body above 1 MiB.
    #[error("Request body is too large")]
    JsonTooLarge,
    /// A form without a file part.
    #[error("No content provided")]
    NoContent,
    /// The form itself cannot be read.
    #[error("Multipart: {0}")]
    BrokenForm(String),
    /// `x-robots-tag` does not follow its grammar.
    #[error("Invalid X-Robots-Tag header: {0}")]
    InvalidRobotsTag(String),
    /// A value that is sent back as a header holds control characters.
    #[error("Invalid character in response header {0}")]
    InvalidHeaderCharacter(&'static str),
    /// The bucket name breaks the rules for names.
    #[error("Bucket name invalid")]
    InvalidBucketName,
    /// The object key breaks the rules for keys.
    #[error("Invalid key: {0}")]
    InvalidKey(String),
    /// The type is not on the bucket's list, or a list entry is malformed.
    #[error("mime type {0} is not supported")]
    InvalidMimeType(String),
    /// The Content-Type header itself is malformed.
    #[error("Invalid Content-Type header")]
    InvalidContentType,
    /// The object (or a bucket's limit) exceeds the allowed size.
    #[error("The object exceeded the maximum allowed size")]
    EntityTooLarge,
    /// User metadata above 1 MiB.
    #[error("The user_metadata exceeded the maximum allowed size")]
    UserMetadataTooLarge,
    /// The object is no picture that can be rendered.
    #[error("{0}")]
    Unrenderable(&'static str),
    /// Rendering took too long.
    #[error("Rendering the image took too long")]
    RenderTimeout,
    /// Too many pictures wait to be rendered.
    #[error("Too many images are waiting to be rendered")]
    RenderOverload,
    /// One client asked too often for one rendered path.
    #[error("Rate limit exceeded, retry in 4 seconds")]
    RenderRate,
    /// An unsatisfiable or malformed `Range`.
    #[error("invalid range provided")]
    InvalidRange {
        /// Size of the object in bytes, for `Content-Range: bytes */size`.
        size_bytes: u64,
    },
    /// The token of a signed URL does not verify.
    #[error("{0}")]
    InvalidJwt(&'static str),
    /// The token of a signed URL is for something else.
    #[error("{0}")]
    InvalidSignature(&'static str),
    /// A parameter has an impossible value.
    #[error("Invalid Parameter {0}")]
    InvalidParameter(&'static str),
    /// PostgreSQL could not read a value (22P02), or the value holds a NUL (22P05, 22021).
    #[error("{0}")]
    InvalidText(String),
    /// No such route.
    #[error("Route {method}:{path} not found")]
    RouteNotFound {
        /// The request's method.
        method: String,
        /// The request's path and query.
        path: String,
    },
    /// The path holds a malformed percent escape.
    #[error("'{0}' is not a valid url component")]
    MalformedUrl(String),
    /// The bucket segment of a path is longer than any bucket's name could be.
    #[error("The bucket of the path is too long")]
    BucketTooLong,
    /// A part of the API that is not served.
    #[error("The feature {0} is not enabled for this resource")]
    FeatureNotEnabled(&'static str),
    /// Another transaction holds the row (55P03).
    #[error("The resource is locked")]
    ResourceLocked,
    /// The lock of the object was not obtained in time.
    #[error("acquiring lock timeout")]
    LockTimeout,
    /// The database refuses writes (25006).
    #[error("The database is currently in read-only mode. Please try again later.")]
    DatabaseReadOnly,
    /// The storage schema is not the one this version expects (42703, 42P01).
    #[error("database schema mismatch")]
    DatabaseSchemaMismatch,
    /// A policy or function is defined in a way that cannot run (42P17).
    #[error("{0}")]
    DatabaseInvalidObjectDefinition(String),
    /// A statement or the wait for a connection took too long.
    #[error("The connection to the database timed out")]
    DatabaseTimeout,
    /// The database has no connection left for us.
    #[error("Too many connections issued to the database")]
    TooManyConnections,
    /// The transaction was already aborted (25P02).
    #[error("the transaction was aborted")]
    DatabaseTransactionAborted,
    /// Any other refusal of the database; carries the SQLSTATE.
    #[error("database error, code: {0}")]
    Database(String),
    /// The disk, the quota or the store of blobs has no room left.
    #[error("There is no space left to store the object")]
    StorageFull,
    /// The remote store of blobs cannot be reached, or fails; the cause goes to the log.
    #[error("The storage backend is not available at the moment. Please try again later.")]
    StoreUnavailable(String),
    /// The remote store of blobs wants fewer requests; the cause goes to the log.
    #[error("Please reduce your request rate.")]
    StoreSlowDown(String),
    /// The client went away.
    #[error("Request aborted")]
    Aborted,
    /// Our own fault; the cause goes to the log, never to the client.
    #[error("Internal Server Error")]
    Internal(#[source] Cause),
}

/// Any error that can be logged as the cause of an internal one.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// One row of the wire table.
struct Wire {
    http: StatusCode,
    status_code: u16,
    error: Cow<'static, str>,
    code: &'static str,
}

/// The body of every error, in the contract's order.
#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "statusCode")]
    status_code: String,
    error: &'a str,
    message: &'a str,
    code: &'a str,
}

/// What a unique violation means for the statement that met it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// An object key of an upload or copy.
    Key,
    /// A bucket's id or name.
    Bucket,
    /// Anything else.
    Resource,
}

impl StorageError {
    /// An internal error with its cause.
    pub(crate) fn internal(cause: impl Into<Cause>) -> Self {
        Self::Internal(cause.into())
    }

    /// Status, `error` and `code` of each failure, on one screen.
    fn wire(&self) -> Wire {
        use StorageError as E;
        // `legacy`: HTTP 400 with the real status inside; `plain`: HTTP shows the real status.
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
            E::RenderOverload | E::RenderRate => plain(429, "Too Many Requests", "SlowDown"),
            E::InvalidRange { .. } => plain(416, "invalid_range", "InvalidRange"),
            E::InvalidJwt(_) => legacy(400, "InvalidJWT", "InvalidJWT"),
            E::InvalidSignature(_) => legacy(400, "InvalidSignature", "InvalidSignature"),
            E::InvalidParameter(_) | E::InvalidText(_) => legacy(400, "InvalidParameter", "InvalidParameter"),
            E::RouteNotFound { .. } => plain(404, "Not Found", "InvalidRequest"),
            E::MalformedUrl(_) => legacy(400, "Bad Request", "InvalidRequest"),
            E::BucketTooLong => plain(414, "URI Too Long", "InvalidRequest"),
            E::FeatureNotEnabled(_) => legacy(409, "FeatureNotEnabled", "FeatureNotEnabled"),
            E::ResourceLocked => legacy(423, "ResourceLocked", "ResourceLocked"),
            E::LockTimeout => legacy(503, "acquiring_lock_timeout", "LockTimeout"),
            E::DatabaseReadOnly => legacy(503, "DatabaseReadOnly", "DatabaseReadOnly"),
            E::DatabaseSchemaMismatch => legacy(503, "DatabaseSchemaMismatch", "DatabaseSchemaMismatch"),
            E::DatabaseInvalidObjectDefinition(_) => legacy(
                503,
                "DatabaseInvalidObjectDefinition",
                "DatabaseInvalidObjectDefinition",
            ),
            E::DatabaseTimeout => plain(544, "DatabaseTimeout", "DatabaseTimeout"),
            E::TooManyConnections => plain(429, "too_many_connections", "SlowDown"),
            E::DatabaseTransactionAborted => {
                legacy(500, "DatabaseTransactionAborted", "DatabaseTransactionAborted")
            }
            E::Database(_) => legacy(500, "DatabaseError", "DatabaseError"),
            E::StorageFull => plain(507, "InsufficientStorage", "InsufficientStorage"),
            E::StoreUnavailable(_) => plain(503, "ServiceUnavailable", "S3Error"),
            E::StoreSlowDown(_) => plain(503, "SlowDown", "SlowDown"),
            E::Aborted => plain(499, "Aborted", "Aborted"),
            E::Internal(_) => legacy(500, "Internal", "InternalError"),
        }
    }

    /// The status behind the legacy 400: what protocols with real statuses answer.
    pub(crate) fn real_status(&self) -> u16 {
        self.wire().status_code
    }

    /// Writes what the client may not see to the log.
    pub(crate) fn log(&self) {
        match self {
            Self::Internal(cause) => tracing::error!(%cause, "storage request failed"),
            Self::StoreUnavailable(cause) => tracing::error!(cause, "the store of objects is not available"),
            Self::StoreSlowDown(cause) => tracing::warn!(cause, "the store of objects wants fewer requests"),
            _ => {}
        }
    }

    /// The real status and the code, for protocols that show them as they are.
    pub(crate) fn real(&self) -> (u16, &'static str) {
        let wire = self.wire();
        (wire.status_code, wire.code)
    }

    /// What a refusal of PostgreSQL means for our client: the one place where SQLSTATEs are read.
    pub(crate) fn from_postgres(sqlstate: &str, message: &str, taken: Taken) -> Self {
        match sqlstate {
            // Compat: every wording about row-level security becomes this one sentence.
            "42501" if message.contains("row-level security") => {
                Self::AccessDenied("new row violates row-level security policy".to_owned())
            }
            "42501" => Self::AccessDenied(message.to_owned()),
            "23505" => match taken {
                Taken::Key => Self::KeyAlreadyExists,
                Taken::Bucket => Self::BucketAlreadyExists,
                Taken::Resource => Self::ResourceAlreadyExists,
            },
            "23503" if message.contains("update or delete") => Self::ResourceReferenced(message.to_owned()),
            "23503" => Self::RelatedResourceMissing,
            "55P03" => Self::ResourceLocked,
            "57014" => Self::DatabaseTimeout,
            "25006" => Self::DatabaseReadOnly,
            "25P02" => Self::DatabaseTransactionAborted,
            "42P17" => Self::DatabaseInvalidObjectDefinition(message.to_owned()),
            "42703" | "42P01" => Self::DatabaseSchemaMismatch,
            "22P02" | "22P05" | "22021" => Self::InvalidText(message.to_owned()),
            "53300" => Self::TooManyConnections,
            other => {
                tracing::warn!(
                    sqlstate = other,
                    message,
                    "the database refused a storage statement"
                );
                Self::Database(other.to_owned())
            }
        }
    }

    /// [`Self::from_postgres`] for errors of statements that ran outside the request pool.
    pub(crate) fn from_tokio_postgres(error: tokio_postgres::Error, taken: Taken) -> Self {
        match error
            .as_db_error()
            .map(|db: &DbError| (db.code().code().to_owned(), db.message().to_owned()))
        {
            Some((sqlstate, message)) => Self::from_postgres(&sqlstate, &message, taken),
            None => Self::internal(error),
        }
    }
}

impl From<std::io::Error> for StorageError {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                tracing::error!(%error, "the store of objects is full");
                Self::StorageFull
            }
            _ => Self::internal(error),
        }
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
    fn store_025_every_error_is_four_strings_and_hides_its_real_status() {
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

    #[test]
    fn store_009_row_security_texts_are_normalised() {
        let error = StorageError::from_postgres(
            "42501",
            "new row violates row-level security policy for table \"objects\"",
            Taken::Key,
        );

        assert_eq!(error.to_string(), "new row violates row-level security policy");
    }

    #[test]
    fn store_004_unique_violations_are_named_by_what_was_written() {
        let code = |taken| {
            StorageError::from_postgres("23505", "duplicate key", taken)
                .wire()
                .code
        };

        assert_eq!(code(Taken::Key), "KeyAlreadyExists");
        assert_eq!(code(Taken::Bucket), "BucketAlreadyExists");
        assert_eq!(code(Taken::Resource), "ResourceAlreadyExists");
    }
}
