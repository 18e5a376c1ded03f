//! The error types, one per group of PGRST codes.

use selvedge_token::TokenError;
use serde_json::Value;

use super::database::DatabaseFault;

/// Any error of a request.
#[derive(Debug, thiserror::Error)]
pub enum RestError {
    /// `PGRST1xx`: the request is malformed or cannot be fulfilled.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// `PGRST2xx`: it names something the catalog does not hold.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// `PGRST3xx`: the token is refused, or missing.
    #[error(transparent)]
    Token(#[from] AuthError),
    /// PostgreSQL reported an error: its SQLSTATE, message, details and hint are the response.
    #[error("the database refused the statement: {}", .0.message)]
    Database(DatabaseFault),
    /// `PGRST000`: no connection could be made.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// `PGRST001`: the connection broke under the request.
    #[error("the database connection was lost: {0}")]
    ConnectionLost(String),
    /// `PGRST003`: no connection became free in time.
    #[error("no database connection became free in time")]
    PoolTimeout,
    /// `53200`, PostgreSQL's error for that: there is no memory left for the body or the result.
    #[error("out of memory")]
    OutOfMemory {
        /// Whether the statement has taken effect nevertheless.
        is_committed: bool,
    },
    /// `53100`, PostgreSQL's error for that: the disk has no room for writes.
    #[error("the disk is full")]
    DiskFull,
    /// `PGRSTX00`: a bug of this service; the cause is logged and not shown.
    #[error("{0}")]
    Internal(String),
}

/// The request is malformed or cannot be fulfilled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// `PGRST100`: the query string does not parse, or exceeds a limit.
    #[error("{message}")]
    Query { message: String, details: String },
    /// `PGRST101`.
    #[error("Cannot use the {0} method on RPC")]
    CallMethod(String),
    /// `PGRST102`: the body is malformed, or of a type that is not accepted.
    #[error("{0}")]
    Body(String),
    /// `22021`: `%00` in the query string. PostgreSQL's error for it, found before asking PostgreSQL.
    #[error("invalid byte sequence for encoding \"UTF8\": 0x00")]
    Nul,
    /// `22003`: PostgreSQL's error for such an offset, found before asking PostgreSQL.
    #[error("value \"{0}\" is out of range for type bigint")]
    OffsetTooLarge(String),
    /// `42712`: two embeds have the same key, which cannot hold both. PostgreSQL's error for PostgREST's statement, with the
    /// name that the second embed would have in it.
    #[error("table name \"{0}\" specified more than once")]
    EmbeddedTwice(String),
    /// `PGRST103`.
    #[error("Requested range not satisfiable")]
    LimitNegative,
    /// `PGRST103`, by the `Range` header.
    #[error("Requested range not satisfiable")]
    RangeReversed,
    /// `PGRST103`, found only when the rows are counted: the response has the headers of a normal one, and this as its
    /// body.
    #[error("Requested range not satisfiable")]
    OffsetBeyond { offset: i64, total: i64 },
    /// `PGRST105`: a PUT names its row by something else than the primary key.
    #[error("Filters must include all and only primary key columns with 'eq' operators")]
    PutFilters,
    /// `PGRST106`: the schema of a profile header or of the caller's tenant is not exposed.
    #[error("Invalid schema: {asked}")]
    Schema { asked: String, exposed: String },
    /// `PGRST107`.
    #[error("None of these media types are available: {0}")]
    MediaType(String),
    /// `PGRST108`: a parameter addresses something that `select` does not embed. `alias` is the name that it should use.
    #[error("'{target}' is not an embedded resource in this request")]
    NotEmbedded { target: String, alias: Option<String> },
    /// `PGRST111`: SQL set `response.headers` to a value of another form.
    #[error(
        "response.headers guc must be a JSON array composed of objects with a single key and a string value"
    )]
    ResponseHeaders,
    /// `PGRST112`: SQL set `response.status` to a value that is not an HTTP status.
    #[error("response.status guc must be a valid status code")]
    ResponseStatus,
    /// `PGRST114`.
    #[error("limit/offset querystring parameters are not allowed for PUT")]
    PutRange,
    /// `PGRST115`: a PUT's payload is another row than its URL names.
    #[error("Payload values do not match URL in primary key column(s)")]
    PutPayload,
    /// `PGRST116`: one object was asked for, and this many rows were found.
    #[error("Cannot coerce the result to a single JSON object")]
    NotSingular(i64),
    /// `PGRST117`.
    #[error("Unsupported HTTP method: {0}")]
    Method(String),
    /// `PGRST118`: rows cannot be sorted by an embed that may have several rows.
    #[error("A related order on '{target}' is not possible")]
    RelatedOrder { origin: String, target: String },
    /// `PGRST122`: unknown preferences, listed, with `handling=strict`.
    #[error("Invalid preferences given with handling=strict")]
    Preferences(String),
    /// `PGRST122`: a page of rows was asked for by a write, which affects all rows, with `handling=strict`. PostgREST ignores it always.
    #[error("limit and offset have no effect on PATCH and DELETE")]
    PageOfWrite,
    /// `PGRST123`.
    #[error("Use of aggregate functions is not allowed")]
    AggregatesDisabled,
    /// `PGRST124`: this many rows were affected.
    #[error("Query result exceeds max-affected preference constraint")]
    MaxAffected(i64),
    /// `PGRST125`.
    #[error("Invalid path specified in request URL")]
    Path,
    /// `PGRST126`: `openapi-mode` is `disabled`.
    #[error("Root endpoint metadata is disabled")]
    RootDisabled,
    /// `PGRST127`: an aggregate in a to-many spread.
    #[error("Feature not implemented")]
    SpreadAggregate,
    /// `PGRST128`.
    #[error("Function must return SETOF or TABLE when max-affected preference is used with handling=strict")]
    MaxAffectedSingle,
    /// `PGRST102`: the body nests deeper than is accepted.
    #[error("Empty or invalid json")]
    BodyTooDeep,
    /// `PGRST102` with 413: the body is larger than this many bytes. PostgREST has no such limit, and therefore no code for
    /// it.
    #[error("The request body is larger than {0} bytes")]
    BodyTooLarge(usize),
    /// `PGRST102` with 408: the body pauses or arrives too slowly.
    #[error("The request body took too long to arrive")]
    BodyTooSlow,
}

/// The request names something that the catalog does not hold.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CatalogError {
    /// `PGRST002`: no catalog has been loaded yet.
    #[error("Could not query the database for the schema cache. Retrying.")]
    NotLoaded,
    /// `PGRST200`.
    #[error("Could not find a relationship between '{origin}' and '{target}' in the schema cache")]
    NoRelationship {
        origin: String,
        target: String,
        details: String,
        hint: Option<String>,
    },
    /// `PGRST201`; `details` lists the candidates.
    #[error("Could not embed because more than one relationship was found for '{origin}' and '{target}'")]
    AmbiguousRelationship {
        origin: String,
        target: String,
        details: Box<Value>,
        hint: String,
    },
    /// `PGRST202`.
    #[error("Could not find the function {called} in the schema cache")]
    NoFunction {
        called: String,
        details: String,
        hint: Option<String>,
    },
    /// `PGRST203`.
    #[error("Could not choose the best candidate function between: {0}")]
    AmbiguousFunction(String),
    /// `PGRST204`: the payload has a key that is not a column.
    #[error("Could not find the '{column}' column of '{relation}' in the schema cache")]
    NoColumn { relation: String, column: String },
    /// `PGRST205`.
    #[error("Could not find the table '{relation}' in the schema cache")]
    NoRelation { relation: String, hint: Option<String> },
}

/// The caller is not authenticated.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// `PGRST300`: a token came, and no key is configured to verify it by.
    #[error("Server lacks JWT secret")]
    NoSecret,
    /// `PGRST301` for a token that cannot be decoded, `PGRST303` for claims that do not hold.
    #[error("the token was refused")]
    Token(#[source] TokenError),
    /// `PGRST302`: the request has no token, and there is no role for anonymous requests.
    #[error("Anonymous access is disabled")]
    AnonymousDisabled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_077_every_error_has_its_code_and_status() {
        let text = String::new;
        let request = |error: RequestError| RestError::from(error);
        let catalog = |error: CatalogError| RestError::from(error);
        let token = |error: TokenError| RestError::from(AuthError::Token(error));
        for (error, status, code) in [
            (RestError::Unreachable(text()), 503, "PGRST000"),
            (RestError::ConnectionLost(text()), 503, "PGRST001"),
            (catalog(CatalogError::NotLoaded), 503, "PGRST002"),
            (RestError::PoolTimeout, 504, "PGRST003"),
            (RestError::OutOfMemory { is_committed: false }, 503, "53200"),
            (RestError::DiskFull, 503, "53100"),
            (
                request(RequestError::Query {
                    message: text(),
                    details: text(),
                }),
                400,
                "PGRST100",
            ),
            (request(RequestError::CallMethod(text())), 405, "PGRST101"),
            (request(RequestError::Body(text())), 400, "PGRST102"),
            (request(RequestError::LimitNegative), 416, "PGRST103"),
            (request(RequestError::RangeReversed), 416, "PGRST103"),
            (
                request(RequestError::OffsetBeyond { offset: 2, total: 1 }),
                416,
                "PGRST103",
            ),
            (request(RequestError::PutFilters), 405, "PGRST105"),
            (
                request(RequestError::Schema {
                    asked: text(),
                    exposed: text(),
                }),
                406,
                "PGRST106",
            ),
            (request(RequestError::MediaType(text())), 406, "PGRST107"),
            (
                request(RequestError::NotEmbedded {
                    target: text(),
                    alias: None,
                }),
                400,
                "PGRST108",
            ),
            (request(RequestError::ResponseHeaders), 500, "PGRST111"),
            (request(RequestError::ResponseStatus), 500, "PGRST112"),
            (request(RequestError::PutRange), 400, "PGRST114"),
            (request(RequestError::PutPayload), 400, "PGRST115"),
            (request(RequestError::NotSingular(2)), 406, "PGRST116"),
            (request(RequestError::Method(text())), 405, "PGRST117"),
            (
                request(RequestError::RelatedOrder {
                    origin: text(),
                    target: text(),
                }),
                400,
                "PGRST118",
            ),
            (request(RequestError::Preferences(text())), 400, "PGRST122"),
            (request(RequestError::AggregatesDisabled), 400, "PGRST123"),
            (request(RequestError::MaxAffected(2)), 400, "PGRST124"),
            (request(RequestError::Path), 404, "PGRST125"),
            (request(RequestError::RootDisabled), 404, "PGRST126"),
            (request(RequestError::SpreadAggregate), 400, "PGRST127"),
            (request(RequestError::PageOfWrite), 400, "PGRST122"),
            (request(RequestError::MaxAffectedSingle), 400, "PGRST128"),
            (catalog(CatalogError::AmbiguousFunction(text())), 300, "PGRST203"),
            (
                catalog(CatalogError::NoColumn {
                    relation: text(),
                    column: text(),
                }),
                400,
                "PGRST204",
            ),
            (
                catalog(CatalogError::NoRelation {
                    relation: text(),
                    hint: None,
                }),
                404,
                "PGRST205",
            ),
            (RestError::from(AuthError::NoSecret), 500, "PGRST300"),
            (token(TokenError::BadSignature), 401, "PGRST301"),
            (RestError::from(AuthError::AnonymousDisabled), 401, "PGRST302"),
            (token(TokenError::Expired), 401, "PGRST303"),
            (RestError::Internal(text()), 500, "PGRSTX00"),
        ] {
            let wire = error.wire();

            assert_eq!((wire.status, wire.code.as_str()), (status, code), "{error}");
        }
    }
}
