//! Everything the service can answer instead of rows, and the one table that says how it looks on the wire.

use crate::config::ErrorVerbosity;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder, body};
use selvedge_token::TokenError;
use serde::Serialize;
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
    #[error("value \"{0}\" is out of range for type bigint")]
    OffsetTooLarge(String),
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
    /// The body is larger than the configuration allows; no code of the reference fits.
    #[error("The request body is larger than {0} bytes")]
    BodyTooLarge(usize),
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

/// An error that PostgreSQL reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseFault {
    pub sqlstate: String,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// Whether the request ran as another role than the anonymous one.
    pub authenticated: bool,
}

/// An error as it goes over the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Wire {
    pub status: u16,
    pub code: String,
    pub message: String,
    pub details: Option<Value>,
    pub hint: Option<String>,
    pub headers: Vec<(String, String)>,
}

impl Wire {
    fn new(status: u16, code: &str, message: impl ToString) -> Self {
        Self {
            status,
            code: code.to_owned(),
            message: message.to_string(),
            details: None,
            hint: None,
            headers: Vec::new(),
        }
    }

    fn details(mut self, details: impl Into<String>) -> Self {
        self.details = Some(Value::String(details.into()));
        self
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

#[derive(Serialize)]
struct VerboseBody<'a> {
    code: &'a str,
    details: &'a Option<Value>,
    hint: &'a Option<String>,
    message: &'a str,
}

#[derive(Serialize)]
struct MinimalBody<'a> {
    code: &'a str,
    message: &'a str,
}

impl Wire {
    /// The body's JSON text.
    pub fn body(&self, verbosity: ErrorVerbosity) -> String {
        let text = match verbosity {
            ErrorVerbosity::Verbose => serde_json::to_string(&VerboseBody {
                code: &self.code,
                details: &self.details,
                hint: &self.hint,
                message: &self.message,
            }),
            ErrorVerbosity::Minimal => serde_json::to_string(&MinimalBody {
                code: &self.code,
                message: &self.message,
            }),
        };
        text.expect("strings and JSON values always serialise")
    }

    /// The whole response; without its body for HEAD.
    pub fn response(&self, verbosity: ErrorVerbosity, headers_only: bool) -> HttpResponse {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut builder = HttpResponseBuilder::new(status);
        builder.insert_header((header::CONTENT_TYPE, "application/json; charset=utf-8"));
        if let Ok(value) = HeaderValue::from_str(&format!("PostgREST; error={}", self.code)) {
            builder.insert_header((HeaderName::from_static("proxy-status"), value));
        }
        for (name, value) in &self.headers {
            if let (Ok(name), Ok(value)) = (
                HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes()),
                HeaderValue::from_str(value),
            ) {
                builder.insert_header((name, value));
            }
        }
        if headers_only {
            builder.body(body::None::new()).map_into_boxed_body()
        } else {
            builder.body(self.body(verbosity))
        }
    }
}

impl RestError {
    /// Status, code, message, details and hint: the failures of this service on one screen.
    pub fn wire(&self) -> Wire {
        match self {
            Self::Request(error) => error.wire(),
            Self::Catalog(error) => error.wire(),
            Self::Token(error) => error.wire(),
            Self::Database(fault) => fault.wire(),
            Self::Unreachable(cause) => Wire::new(503, "PGRST000", "Database connection error.")
                .details(cause.clone())
                .header("Retry-After", "1"),
            Self::ConnectionLost(cause) => {
                Wire::new(503, "PGRST001", "Database client error. Retrying the connection.")
                    .details(cause.clone())
                    .header("Retry-After", "1")
            }
            Self::PoolTimeout => Wire::new(
                504,
                "PGRST003",
                "Timed out acquiring connection from connection pool.",
            ),
            Self::Internal(cause) => {
                tracing::error!(error = %cause, "rest: internal error");
                Wire::new(500, "PGRSTX00", "Internal error")
            }
        }
    }
}

impl RequestError {
    fn wire(&self) -> Wire {
        match self {
            Self::Query { details, .. } => Wire::new(400, "PGRST100", self).details(details),
            Self::CallMethod(_) => Wire::new(405, "PGRST101", self),
            Self::Body(_) => Wire::new(400, "PGRST102", self),
            Self::OffsetTooLarge(_) => Wire::new(400, "22003", self),
            Self::LimitNegative => {
                Wire::new(416, "PGRST103", self).details("Limit should be greater than or equal to zero.")
            }
            Self::RangeReversed => Wire::new(416, "PGRST103", self).details(
                "The lower boundary must be lower than or equal to the upper boundary in the Range header.",
            ),
            Self::OffsetBeyond { offset, total } => Wire::new(416, "PGRST103", self).details(format!(
                "An offset of {offset} was requested, but there are only {total} rows."
            )),
            Self::PutFilters => Wire::new(405, "PGRST105", self),
            Self::Schema { exposed, .. } => Wire::new(406, "PGRST106", self)
                .hint(format!("Only the following schemas are exposed: {exposed}")),
            Self::MediaType(_) => Wire::new(406, "PGRST107", self),
            Self::NotEmbedded { target, alias: None } => Wire::new(400, "PGRST108", self).hint(format!(
                "Verify that '{target}' is included in the 'select' query parameter."
            )),
            Self::NotEmbedded {
                target,
                alias: Some(alias),
            } => Wire::new(400, "PGRST108", self)
                .details("Target names are not allowed in filters if they have an alias")
                .hint(format!(
                    "Change '{target}' to '{alias}' in filters, orders or limits."
                )),
            Self::ResponseHeaders => Wire::new(500, "PGRST111", self),
            Self::ResponseStatus => Wire::new(500, "PGRST112", self),
            Self::PutRange => Wire::new(400, "PGRST114", self),
            Self::PutPayload => Wire::new(400, "PGRST115", self),
            Self::NotSingular(rows) => {
                Wire::new(406, "PGRST116", self).details(format!("The result contains {rows} rows"))
            }
            Self::Method(_) => Wire::new(405, "PGRST117", self),
            Self::RelatedOrder { origin, target } => Wire::new(400, "PGRST118", self).details(format!(
                "'{origin}' and '{target}' do not form a many-to-one or one-to-one relationship"
            )),
            Self::Preferences(invalid) => {
                Wire::new(400, "PGRST122", self).details(format!("Invalid preferences: {invalid}"))
            }
            Self::AggregatesDisabled => Wire::new(400, "PGRST123", self),
            Self::MaxAffected(rows) => {
                Wire::new(400, "PGRST124", self).details(format!("The query affects {rows} rows"))
            }
            Self::Path => Wire::new(404, "PGRST125", self),
            Self::RootDisabled => Wire::new(404, "PGRST126", self),
            Self::SpreadAggregate => Wire::new(400, "PGRST127", self)
                .details("Aggregates are not implemented for one-to-many or many-to-many spreads."),
            Self::MaxAffectedSingle => Wire::new(400, "PGRST128", self),
            Self::BodyTooLarge(_) => Wire::new(413, "PGRST102", self),
        }
    }
}

impl AuthError {
    fn wire(&self) -> Wire {
        match self {
            Self::NoSecret => Wire::new(500, "PGRST300", self),
            Self::AnonymousDisabled => Wire::new(401, "PGRST302", self).header("WWW-Authenticate", "Bearer"),
            Self::Token(error) => {
                let wire = token_wire(error);
                let challenge = format!(
                    "Bearer error=\"invalid_token\", error_description=\"{}\"",
                    wire.message.replace('\\', "\\\\").replace('"', "\\\"")
                );
                wire.header("WWW-Authenticate", challenge)
            }
        }
    }
}

/// `PGRST301` for what cannot be decoded, `PGRST303` for claims that do not hold.
fn token_wire(error: &TokenError) -> Wire {
    let undecodable = |message: &str| Wire::new(401, "PGRST301", message);
    let claims = |message: &str| Wire::new(401, "PGRST303", message);
    match error {
        TokenError::Empty => undecodable("Empty JWT is sent in Authorization header"),
        TokenError::Parts(parts) => undecodable(&format!("Expected 3 parts in JWT; got {parts}")),
        TokenError::Undecodable | TokenError::Signing => undecodable("JWT cryptographic operation failed"),
        TokenError::UnsupportedAlgorithm(_) => undecodable("Wrong or unsupported encoding algorithm"),
        TokenError::Unsigned => undecodable("Wrong or unsupported encoding algorithm")
            .details("JWT is unsecured but expected 'alg' was not 'none'"),
        TokenError::NoSuitableKey => undecodable("No suitable key or wrong key type")
            .details("No suitable key was found to decode the JWT"),
        TokenError::BadSignature => undecodable("No suitable key or wrong key type")
            .details("None of the keys was able to decode the JWT"),
        TokenError::ClaimsNotAnObject => claims("Parsing claims failed"),
        TokenError::ClaimNotANumber(name) => claims(&format!("The JWT '{name}' claim must be a number")),
        TokenError::AudienceNotStrings => {
            claims("The JWT 'aud' claim must be a string or an array of strings")
        }
        TokenError::Expired => claims("JWT expired"),
        TokenError::NotYetValid => claims("JWT not yet valid"),
        TokenError::IssuedInFuture => claims("JWT issued at future"),
        TokenError::WrongAudience => claims("JWT not in audience"),
    }
}

impl CatalogError {
    fn wire(&self) -> Wire {
        match self {
            Self::NotLoaded => Wire::new(503, "PGRST002", self).header("Retry-After", "1"),
            Self::NoRelationship { details, hint, .. } => {
                let wire = Wire::new(400, "PGRST200", self).details(details);
                Wire { hint: hint.clone(), ..wire }
            }
            Self::AmbiguousRelationship { details, hint, .. } => {
                let wire = Wire::new(300, "PGRST201", self).hint(hint);
                Wire { details: Some(details.as_ref().clone()), ..wire }
            }
            Self::NoFunction { details, hint, .. } => {
                let wire = Wire::new(404, "PGRST202", self).details(details);
                Wire { hint: hint.clone(), ..wire }
            }
            Self::AmbiguousFunction(_) => Wire::new(300, "PGRST203", self).hint(
                "Try renaming the parameters or the function itself in the database so function overloading can be \
                 resolved",
            ),
            Self::NoColumn { .. } => Wire::new(400, "PGRST204", self),
            Self::NoRelation { hint, .. } => {
                Wire { hint: hint.clone(), ..Wire::new(404, "PGRST205", self) }
            }
        }
    }
}

impl DatabaseFault {
    fn wire(&self) -> Wire {
        if self.sqlstate == "PGRST" {
            return self.raised_wire();
        }
        let status = self.status();
        let mut wire = Wire::new(status, &self.sqlstate, &self.message);
        wire.details = self.detail.clone().map(Value::String);
        wire.hint = self.hint.clone();
        match status {
            401 => wire.header("WWW-Authenticate", "Bearer"),
            503 => wire.header("Retry-After", "0"),
            _ => wire,
        }
    }

    /// HTTP status of an SQLSTATE; the first match from the top.
    fn status(&self) -> u16 {
        let state = self.sqlstate.as_str();
        match state {
            "23503" | "23505" => return 409,
            "25006" => return 405,
            "21000" => {
                return if self.message.ends_with("requires a WHERE clause") {
                    400
                } else {
                    500
                };
            }
            "22023" => {
                let unknown_role =
                    self.message.starts_with("role") && self.message.ends_with("does not exist");
                return if unknown_role { 401 } else { 400 };
            }
            "53400" => return 500,
            "57P01" => return 503,
            "P0001" => return 400,
            "42883" => {
                return if self.message.starts_with("function xmlagg(") {
                    406
                } else {
                    404
                };
            }
            "42P01" => return 404,
            "42P17" => return 500,
            "42501" => return if self.authenticated { 403 } else { 401 },
            _ => {}
        }
        match state.get(..2).unwrap_or_default() {
            "08" | "53" => 503,
            "0L" | "0P" | "28" => 403,
            "09" | "25" | "2D" | "38" | "39" | "3B" | "40" | "54" | "55" | "57" | "58" | "F0" | "HV"
            | "P0" | "XX" => 500,
            "PT" => state[2..]
                .parse()
                .ok()
                .filter(|status| (100..=999).contains(status))
                .unwrap_or(500),
            _ => 400,
        }
    }

    /// `RAISE SQLSTATE 'PGRST'`: MESSAGE is the body, DETAIL is status and headers.
    fn raised_wire(&self) -> Wire {
        let malformed = |details: String, hint: &str| {
            Wire::new(
                500,
                "PGRST121",
                "Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error",
            )
            .details(details)
            .hint(hint)
        };
        const DETAIL_HINT: &str = "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and \
                                   optional key: 'status_text'.";
        let Ok(body) = serde_json::from_str::<RaisedBody>(&self.message) else {
            return malformed(
                format!("Invalid JSON value for MESSAGE: '{}'", self.message),
                "MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: \
                 'details', 'hint'.",
            );
        };
        let Some(detail) = &self.detail else {
            return malformed("DETAIL is missing in the RAISE statement".to_owned(), DETAIL_HINT);
        };
        let Ok(head) = serde_json::from_str::<RaisedHead>(detail) else {
            return malformed(format!("Invalid JSON value for DETAIL: '{detail}'"), DETAIL_HINT);
        };
        Wire {
            status: head.status,
            code: body.code,
            message: body.message,
            details: body.details.map(Value::String),
            hint: body.hint,
            headers: head.headers.into_iter().collect(),
        }
    }
}

#[derive(serde::Deserialize)]
struct RaisedBody {
    code: String,
    message: String,
    details: Option<String>,
    hint: Option<String>,
}

#[derive(serde::Deserialize)]
struct RaisedHead {
    status: u16,
    headers: std::collections::BTreeMap<String, String>,
}
