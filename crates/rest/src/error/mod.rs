//! Everything the service can answer instead of rows.

mod database;
mod reason;
mod table;
mod wire;

pub use database::DatabaseFault;
pub use wire::Wire;

use selvedge_token::TokenError;
use serde_json::Value;

/// Everything the REST gateway can answer instead of rows.
#[derive(Debug, thiserror::Error)]
pub enum RestError {
    /// `PGRST1xx`: the request is malformed or asks for the impossible.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// `PGRST2xx`: it names something the catalog does not hold.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// `PGRST3xx`: the token is no good, or missing.
    #[error(transparent)]
    Token(#[from] AuthError),
    /// PostgreSQL refused; its SQLSTATE, message, details and hint are the answer.
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
    /// `PGRSTX00`: our own fault.
    #[error("{0}")]
    Internal(String),
}

/// The request is malformed or asks for the impossible.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequestError {
    #[error("{message}")]
    Query { message: String, details: String },
    #[error("Cannot use the {0} method on RPC")]
    CallMethod(String),
    #[error("{0}")]
    Body(String),
    /// As PostgreSQL would say it, had it been asked.
    #[error("invalid byte sequence for encoding \"UTF8\": 0x00")]
    Nul,
    /// The same.
    #[error("value \"{0}\" is out of range for type bigint")]
    OffsetTooLarge(String),
    /// The same, by the name that one of two equally named embeds would have: one JSON key cannot hold both.
    #[error("table name \"{0}\" specified more than once")]
    EmbeddedTwice(String),
    #[error("Requested range not satisfiable")]
    LimitNegative,
    #[error("Requested range not satisfiable")]
    RangeReversed,
    /// Found only after the statement: the response is a normal one with this as its body.
    #[error("Requested range not satisfiable")]
    OffsetBeyond { offset: i64, total: i64 },
    #[error("Filters must include all and only primary key columns with 'eq' operators")]
    PutFilters,
    #[error("Invalid schema: {asked}")]
    Schema { asked: String, exposed: String },
    #[error("None of these media types are available: {0}")]
    MediaType(String),
    #[error("'{target}' is not an embedded resource in this request")]
    NotEmbedded { target: String, alias: Option<String> },
    #[error(
        "response.headers guc must be a JSON array composed of objects with a single key and a string value"
    )]
    ResponseHeaders,
    #[error("response.status guc must be a valid status code")]
    ResponseStatus,
    #[error("limit/offset querystring parameters are not allowed for PUT")]
    PutRange,
    #[error("Payload values do not match URL in primary key column(s)")]
    PutPayload,
    #[error("Cannot coerce the result to a single JSON object")]
    NotSingular(i64),
    #[error("Unsupported HTTP method: {0}")]
    Method(String),
    #[error("A related order on '{target}' is not possible")]
    RelatedOrder { origin: String, target: String },
    #[error("Invalid preferences given with handling=strict")]
    Preferences(String),
    #[error("Use of aggregate functions is not allowed")]
    AggregatesDisabled,
    #[error("Query result exceeds max-affected preference constraint")]
    MaxAffected(i64),
    #[error("Invalid path specified in request URL")]
    Path,
    #[error("Root endpoint metadata is disabled")]
    RootDisabled,
    #[error("Feature not implemented")]
    SpreadAggregate,
    #[error("Function must return SETOF or TABLE when max-affected preference is used with handling=strict")]
    MaxAffectedSingle,
    /// The body nests deeper than is accepted.
    #[error("Empty or invalid json")]
    BodyTooDeep,
    /// The body is larger than the configuration allows; no code of the reference fits.
    #[error("The request body is larger than {0} bytes")]
    BodyTooLarge(usize),
    /// The same: its sender pauses or drips.
    #[error("The request body took too long to arrive")]
    BodyTooSlow,
}

/// It names something the catalog does not hold.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CatalogError {
    #[error("Could not query the database for the schema cache. Retrying.")]
    NotLoaded,
    #[error("Could not find a relationship between '{origin}' and '{target}' in the schema cache")]
    NoRelationship {
        origin: String,
        target: String,
        details: String,
        hint: Option<String>,
    },
    #[error("Could not embed because more than one relationship was found for '{origin}' and '{target}'")]
    AmbiguousRelationship {
        origin: String,
        target: String,
        details: Box<Value>,
        hint: String,
    },
    #[error("Could not find the function {called} in the schema cache")]
    NoFunction {
        called: String,
        details: String,
        hint: Option<String>,
    },
    #[error("Could not choose the best candidate function between: {0}")]
    AmbiguousFunction(String),
    #[error("Could not find the '{column}' column of '{relation}' in the schema cache")]
    NoColumn { relation: String, column: String },
    #[error("Could not find the table '{relation}' in the schema cache")]
    NoRelation { relation: String, hint: Option<String> },
}

/// The caller could not be told who they are.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// `PGRST300`.
    #[error("Server lacks JWT secret")]
    NoSecret,
    /// `PGRST301` and `PGRST303`.
    #[error("the token was refused")]
    Token(#[source] TokenError),
    /// `PGRST302`.
    #[error("Anonymous access is disabled")]
    AnonymousDisabled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_077_every_failure_has_its_code_and_status() {
        let text = String::new;
        let request = |error: RequestError| RestError::from(error);
        let catalog = |error: CatalogError| RestError::from(error);
        let token = |error: TokenError| RestError::from(AuthError::Token(error));
        for (error, status, code) in [
            (RestError::Unreachable(text()), 503, "PGRST000"),
            (RestError::ConnectionLost(text()), 503, "PGRST001"),
            (catalog(CatalogError::NotLoaded), 503, "PGRST002"),
            (RestError::PoolTimeout, 504, "PGRST003"),
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
