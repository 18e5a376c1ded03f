//! The role as which a proxied request runs: the service key by default, or as the header `x-selvedge-subject` says.

use actix_web::http::header::HeaderMap;
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::{ConsoleState, Level};

/// How long a token of a subject is valid, in seconds. It leaves this process only if a function of the project sends it.
const TOKEN_LIFETIME: i64 = 60;

/// The subject that the header names, in the form that all of `/api` uses.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Subject {
    Admin,
    ServiceRole,
    Anon,
    Claims { claims: Map<String, Value> },
}

/// The key and the token that a proxied request carries to its service.
pub(super) struct Credentials {
    /// The value of the header `apikey`.
    pub(super) key: String,
    /// The bearer token of the header `Authorization`; `None` leaves the header out.
    pub(super) token: Option<String>,
}

/// Chooses the credentials with which the request runs as its subject.
///
/// # Errors
/// A subject that is not valid.
pub(super) fn credentials(
    state: &ConsoleState,
    session: &Session,
    headers: &HeaderMap,
) -> Result<Credentials, ConsoleError> {
    let subject = match headers.get("x-selvedge-subject") {
        None => Subject::ServiceRole,
        Some(value) => serde_json::from_slice(value.as_bytes()).map_err(|error| {
            ConsoleError::invalid(format!("x-selvedge-subject is not a subject: {error}"))
        })?,
    };
    let publishable = || state.config.publishable_key.clone();
    let claims = match subject {
        Subject::Admin | Subject::ServiceRole => {
            let key = state.api()?.service_key.expose_secret().to_owned();
            return Ok(Credentials {
                // Auth reads the role of its admin endpoints from the token alone.
                token: Some(key.clone()),
                key,
            });
        }
        Subject::Anon => {
            return Ok(Credentials {
                key: publishable(),
                token: None,
            });
        }
        Subject::Claims { claims } => claims,
    };
    // The level is asked for again here, because a token of a user can write where the service key only reads.
    session.require(Level::Admin)?;
    Ok(Credentials {
        key: publishable(),
        token: Some(sign(state, claims)?),
    })
}

/// Signs a token with these claims that is valid for a minute.
fn sign(state: &ConsoleState, mut claims: Map<String, Value>) -> Result<String, ConsoleError> {
    let now = chrono::Utc::now().timestamp();
    claims.insert("iat".into(), json!(now));
    claims.insert("exp".into(), json!(now + TOKEN_LIFETIME));
    (state.api()?.sign_token)(&Value::Object(claims)).map_err(ConsoleError::unavailable)
}
