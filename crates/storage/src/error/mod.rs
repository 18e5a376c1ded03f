//! Every error of the storage service. [`wire`] holds the table of statuses and codes, [`sources`] maps errors of the
//! database, the blob store and the file system to these variants.

mod sources;
mod wire;

/// A failed storage request.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The bucket does not exist, is hidden by a policy, or is private on a public route.
    #[error("Bucket not found")]
    NoSuchBucket,
    /// The object does not exist or is hidden by a policy.
    #[error("Object not found")]
    NoSuchKey,
    /// The row exists, but its blob does not.
    #[error("The resource was not found")]
    BlobMissing,
    /// A policy, a grant or an invalid token refused the request.
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
    /// Another unique constraint was violated, for example by a move to a taken key.
    #[error("The resource already exists")]
    ResourceAlreadyExists,
    /// The bucket still holds objects.
    #[error("The bucket you tried to delete is not empty")]
    ResourceNotEmpty,
    /// Another table refers to the row.
    #[error("{0}")]
    ResourceReferenced(String),
    /// The row refers to a bucket that does not exist (foreign key violation).
    #[error("The related resource does not exist")]
    RelatedResourceMissing,
    /// Emptying would delete more than the configured number of objects.
    #[error("Unable to empty the bucket because it contains too many objects")]
    TooManyToEmpty,
    /// Parameters, headers, query or body violate the route's schema; the text names the field.
    #[error("{0}")]
    Schema(String),
    /// The body is empty although its content type is JSON.
    #[error("Body cannot be empty when content-type is set to 'application/json'")]
    EmptyJson,
    /// The body is not JSON although its content type is.
    #[error("Body is not valid JSON but content-type is set to 'application/json'")]
    BrokenJson,
    /// A JSON body above 1 MiB.
    #[error("Request body is too large")]
    JsonTooLarge,
    /// A multipart form has no file part.
    #[error("No content provided")]
    NoContent,
    /// A multipart form is malformed.
    #[error("Multipart: {0}")]
    BrokenForm(String),
    /// `x-robots-tag` does not follow its grammar.
    #[error("Invalid X-Robots-Tag header: {0}")]
    InvalidRobotsTag(String),
    /// A value that downloads send as a header contains control characters.
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
    /// The caller has begun as many uploads, or sent as many bytes of them, as may be unfinished.
    #[error("Too many unfinished uploads; finish or abort some of them first")]
    TooManyUnfinished,
    /// User metadata above 1 MiB.
    #[error("The user_metadata exceeded the maximum allowed size")]
    UserMetadataTooLarge,
    /// The object is not an image that can be rendered.
    #[error("{0}")]
    Unrenderable(&'static str),
    /// Rendering took too long.
    #[error("Rendering the image took too long")]
    RenderTimeout,
    /// Too many images are waiting to be rendered.
    #[error("Too many images are waiting to be rendered")]
    RenderOverload,
    /// One client requested one rendered path too often.
    #[error("Rate limit exceeded, retry in 4 seconds")]
    RenderRate,
    /// An unsatisfiable or malformed `Range`.
    #[error("invalid range provided")]
    InvalidRange {
        /// Size of the object in bytes, for `Content-Range: bytes */size`.
        size_bytes: u64,
    },
    /// The token of a signed URL is malformed, expired or has a wrong signature.
    #[error("{0}")]
    InvalidJwt(&'static str),
    /// The token of a signed URL is valid, but for another object or operation.
    #[error("{0}")]
    InvalidSignature(&'static str),
    /// A parameter has a value outside its domain.
    #[error("Invalid Parameter {0}")]
    InvalidParameter(&'static str),
    /// PostgreSQL could not read a value (22P02), or the value holds a NUL (22P05, 22021).
    #[error("{0}")]
    InvalidText(String),
    /// There is no such route.
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
    /// The bucket segment of a path exceeds the router's limit.
    #[error("The bucket of the path is too long")]
    BucketTooLong,
    /// The bucket has no rules that remove old versions.
    #[error("The lifecycle configuration does not exist")]
    NoSuchLifecycleConfiguration,
    /// A feature of the API that this service does not have.
    #[error("The feature {0} is not enabled for this resource")]
    FeatureNotEnabled(&'static str),
    /// Another transaction holds the row (55P03).
    #[error("The resource is locked")]
    ResourceLocked,
    /// The lock of the object was not obtained in time.
    #[error("acquiring lock timeout")]
    LockTimeout,
    /// This transaction and another one waited for each other, and PostgreSQL ended this one (40P01). Nothing has changed, and it may
    /// be repeated. The client gets to see a `LockTimeout`.
    #[error("acquiring lock timeout")]
    Deadlock,
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
    /// The database is not there, starting up or recovering; the cause is logged and not sent to the client.
    #[error("The database is not available at the moment. Please try again later.")]
    DatabaseUnavailable(String),
    /// The connection was lost before the database answered. A write may have been committed.
    #[error("Service Unavailable")]
    ConnectionLost(String),
    /// The database has no connection left for us.
    #[error("Too many connections issued to the database")]
    TooManyConnections,
    /// The transaction was already aborted (25P02).
    #[error("the transaction was aborted")]
    DatabaseTransactionAborted,
    /// Any other error of the database; carries the SQLSTATE.
    #[error("database error, code: {0}")]
    Database(String),
    /// `storage.objects` is a distributed table of Citus, whose policies and listings would find no rows.
    #[error(
        "storage.objects is distributed by Citus, which storage does not support. \
         Bring it back by: select undistribute_table('storage.objects')"
    )]
    DistributedObjects,
    /// The disk, its quota or the remote store is full.
    #[error("There is no space left to store the object")]
    StorageFull,
    /// The remote store cannot be reached or fails; the cause is logged and not sent to the client.
    #[error("The storage backend is not available at the moment. Please try again later.")]
    StoreUnavailable(String),
    /// The remote store throttles us; the cause is logged and not sent to the client.
    #[error("Please reduce your request rate.")]
    StoreSlowDown(String),
    /// Memory is short, and the body was not read to its end.
    #[error("The server is short of memory. Please try again later.")]
    OutOfMemory,
    /// The client disconnected or stopped sending.
    #[error("Request aborted")]
    Aborted,
    /// An error of the service itself; the cause is logged and never sent to the client.
    #[error("Internal Server Error")]
    Internal(#[source] Cause),
}

/// Any error that can be logged as the cause of an internal one.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Which unique constraint a statement can violate: decides how a unique violation (23505) is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UniqueKey {
    /// Bucket and key of an object, in an upload or copy.
    Object,
    /// A bucket's id or name.
    Bucket,
    /// Any other constraint.
    Other,
}

impl StorageError {
    /// An internal error with its cause.
    pub(crate) fn internal(cause: impl Into<Cause>) -> Self {
        Self::Internal(cause.into())
    }

    /// Logs the causes that are not sent to the client.
    pub(crate) fn log(&self) {
        match self {
            Self::Internal(cause) => tracing::error!(%cause, "storage request failed"),
            Self::DatabaseUnavailable(cause) | Self::ConnectionLost(cause) => {
                tracing::warn!(cause, "the database is not available");
            }
            Self::StoreUnavailable(cause) => tracing::error!(cause, "the store of objects is not available"),
            Self::StoreSlowDown(cause) => tracing::warn!(cause, "the store of objects wants fewer requests"),
            _ => {}
        }
    }
}
