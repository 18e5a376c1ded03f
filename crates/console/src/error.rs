//! Errors of `/api`, all with one body: `{code, message, details?, hint?, position?, request_id}`.

use std::borrow::Cow;
use std::fmt;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};
use serde_json::{Map, Value, json};
use tokio_postgres::error::{DbError, ErrorPosition, SqlState};

/// The error of a request to `/api`, with its status and the members of its body.
#[derive(Debug)]
pub struct ConsoleError {
    status: StatusCode,
    /// The body without its `request_id`. Boxed, because errors are returned by value through many functions.
    body: Box<Map<String, Value>>,
}

impl ConsoleError {
    /// An error with a status, a code and a sentence for a person.
    pub fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let mut body = Map::new();
        body.insert("code".into(), json!(code));
        body.insert("message".into(), Value::String(message.into()));
        Self {
            status,
            body: Box::new(body),
        }
    }

    /// 401: nobody is signed in.
    pub fn unauthenticated() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "unauthenticated",
            "You are not signed in",
        )
    }

    /// 403: the account's level, or a guard, forbids it.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// 404: the requested object does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// 409: another person has changed the object in the meantime.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", message)
    }

    /// 422: the request makes no sense.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message)
    }

    /// 503: the server or its database is away.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
    }

    /// 503: what went wrong in Auth's tables is no fault of the caller, but a lock of a migration, or code of the project, whose message is
    /// for the log alone.
    pub(crate) fn of_auth_tables(error: &tokio_postgres::Error) -> Self {
        let message = error
            .as_db_error()
            .map_or_else(|| error.to_string(), |error| error.message().to_owned());
        tracing::warn!(error = message, "the console cannot use the tables of Auth");
        Self::auth_tables_away()
    }

    /// 503 for whatever keeps the console from using Auth's tables; the log has the reason.
    pub(crate) fn auth_tables_away() -> Self {
        Self::unavailable("The users of the project cannot be looked up at the moment")
    }

    /// Adds a sentence that says what the person can do.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        self.with("hint", Value::String(hint.into()))
    }

    /// Adds a member of the body that belongs to one kind of error, such as the rows of a conflict.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.body.insert(name.into(), value);
        self
    }

    /// The response. The guards call it with the id of the request, which an error does not know.
    pub(crate) fn respond(&self, request_id: Option<&str>) -> HttpResponse {
        let mut body = (*self.body).clone();
        body.insert("request_id".into(), json!(request_id));
        HttpResponse::build(self.status).json(body)
    }

    /// Returns a member of the body, such as `position`.
    pub(crate) fn member(&self, name: &str) -> Option<&Value> {
        self.body.get(name)
    }

    /// Returns the body's `code`, which programs may test.
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    fn from_database(error: &DbError) -> Self {
        let code = error.code();
        let mut found = Self::new(status_of(code), code.code(), error.message());
        for (name, text) in [
            ("details", error.detail()),
            ("hint", error.hint()),
            ("column", error.column()),
            ("constraint", error.constraint()),
        ] {
            if let Some(text) = text {
                found = found.with(name, json!(text));
            }
        }
        match error.position() {
            Some(ErrorPosition::Original(position)) => found.with("position", json!(position)),
            _ => found,
        }
    }
}

/// The status for an error of PostgreSQL: refused by privileges, the server is away, or the statement is at fault.
pub(crate) fn status_of(code: &SqlState) -> StatusCode {
    match code.code().get(..2).unwrap_or_default() {
        "08" | "53" | "58" => StatusCode::SERVICE_UNAVAILABLE,
        // Shutdown and restart of the server; a cancelled statement is the caller's own wish.
        "57" if *code != SqlState::QUERY_CANCELED => StatusCode::SERVICE_UNAVAILABLE,
        "28" => StatusCode::FORBIDDEN,
        // A transaction that lost against another one: trying again may succeed, so it is a conflict and no fault.
        "40" => StatusCode::CONFLICT,
        _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => StatusCode::FORBIDDEN,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

impl fmt::Display for ConsoleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.body["message"].as_str().unwrap_or_default();
        write!(formatter, "{}: {message}", self.code())
    }
}

impl std::error::Error for ConsoleError {}

impl ResponseError for ConsoleError {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        self.respond(None)
    }
}

impl From<tokio_postgres::Error> for ConsoleError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(error) => Self::from_database(error),
            // The error has no message of the server: the connection broke, or a value has another type than our code
            // expects.
            None if error.is_closed() => Self::unavailable("The database is away"),
            None => {
                tracing::warn!(%error, "the console's statement failed");
                Self::unavailable("The database did not answer as expected")
            }
        }
    }
}

impl From<deadpool_postgres::PoolError> for ConsoleError {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(error) => error.into(),
            _ => Self::unavailable("No database connection became free in time"),
        }
    }
}

impl From<serde_json::Error> for ConsoleError {
    fn from(error: serde_json::Error) -> Self {
        Self::invalid(format!("The body is not the expected JSON: {error}"))
    }
}

/// Turns actix's error about a JSON body into one in the form of this API.
pub(crate) fn from_json_payload(error: &actix_web::error::JsonPayloadError) -> ConsoleError {
    use actix_web::error::JsonPayloadError as E;

    let message: Cow<'static, str> = match error {
        E::Overflow { .. } | E::OverflowKnownLength { .. } => "The body is too long".into(),
        E::ContentType => "The body must be of the type application/json".into(),
        E::Deserialize(error) => format!("The body is not the expected JSON: {error}").into(),
        _ => "The body could not be read".into(),
    };
    ConsoleError::invalid(message)
}
