//! Errors of `/pg`, rendered as `{"error": "…"}` as postgres-meta does.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};
use serde_json::{Map, Value, json};

/// Every error that `/pg` responds with; [`ResponseError::status_code`] has the status of each.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MetaError {
    /// A parameter or the body is malformed, such as a `limit` that is not a number.
    #[error("{0}")]
    Request(String),
    /// No object has this id or name.
    #[error("{0}")]
    NotFound(String),
    /// A web page has sent the request. The keys of `start` are public, so any page could otherwise change the database of a
    /// developer who visits it.
    #[error(
        "changes are not accepted from web pages, because a service key must not be in a browser: call /pg from a server"
    )]
    FromWebPage,
    /// PostgreSQL refused the SQL of `POST /pg/query`. The map is the response body: message, code, detail and position.
    #[error("the statement failed")]
    Statement(Map<String, Value>),
    /// The SQL of `POST /pg/query` ran longer than the request's timeout.
    #[error("Query read timeout")]
    TimedOut,
    /// PostgreSQL refused a statement that creates, changes or drops an object.
    #[error("{}", describe_database_error(.0))]
    Refused(tokio_postgres::Error),
    /// A query on the system catalog failed.
    #[error("{}", describe_database_error(.0))]
    Catalog(#[from] tokio_postgres::Error),
    /// No connection to the database became available.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
}

impl From<deadpool_postgres::PoolError> for MetaError {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<selvedge_postgres::TextSessionError> for MetaError {
    fn from(error: selvedge_postgres::TextSessionError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl ResponseError for MetaError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Request(_) | Self::Statement(_) | Self::Refused(_) => StatusCode::BAD_REQUEST,
            Self::FromWebPage => StatusCode::FORBIDDEN,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::TimedOut => StatusCode::REQUEST_TIMEOUT,
            // Class 22: a value of the request that PostgreSQL cannot take, such as a name with a zero byte.
            Self::Catalog(error) if error.code().is_some_and(|code| code.code().starts_with("22")) => {
                StatusCode::BAD_REQUEST
            }
            Self::Catalog(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status_code());
        match self {
            Self::Statement(members) => response.json(members),
            other => response.json(json!({ "error": other.to_string() })),
        }
    }
}

/// Returns the server's message, because the driver's own text is only `db error`.
fn describe_database_error(error: &tokio_postgres::Error) -> String {
    error
        .as_db_error()
        .map_or_else(|| error.to_string(), |error| error.message().to_owned())
}
