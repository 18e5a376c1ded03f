//! Sign-in of the project's users with password and second factor, through Auth's public endpoints, so that its rate limits and
//! hooks apply. The user's level is in `app_metadata.console`, which users cannot change. `user_metadata`, which they can change,
//! is never read.

use actix_web::http::{Method, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use uuid::Uuid;

use super::caller::Session;
use super::member_lookup::find_member;
use crate::error::ConsoleError;
use crate::services::{Answer, Call, ThreadApi, call_service};
use crate::state::{ConsoleState, Level};

/// The credentials that the sign-in form sends.
pub(super) struct Credentials<'a> {
    pub(super) name: &'a str,
    pub(super) password: &'a str,
    pub(super) code: Option<&'a str>,
}

/// A user of the project who may use the console.
pub(super) struct Member {
    pub(super) id: Uuid,
    /// The session at Auth. The console's own ends with it.
    pub(super) auth_session: Uuid,
    pub(super) name: String,
    pub(super) level: Level,
    /// The access token of that session.
    pub(super) token: SecretString,
}

/// Calls the auth service with IP address and request id of the sign-in's request.
struct Auth<'a> {
    state: &'a ConsoleState,
    api: &'a ThreadApi,
    caller: &'a Session,
}

/// Checks email or phone number, password, level and second factor; `None` when the password or address is wrong.
///
/// # Errors
/// 401 `code_required` and `invalid_code`; 403 for users without a level or second factor, or refused by Auth; 429; 503.
pub(super) async fn check(
    state: &ConsoleState,
    api: &ThreadApi,
    caller: &Session,
    guess: &Credentials<'_>,
) -> Result<Option<Member>, ConsoleError> {
    let auth = Auth { state, api, caller };
    let Some(signed_in) = auth.check_password(guess).await? else {
        return Ok(None);
    };
    let checked = auth.check_user(&signed_in, guess.code).await;
    // After a sign-in the session at Auth stays, without anybody who could refresh it, because the console's own ends with it: by a new
    // password, a global sign-out, or an administrator.
    if checked.is_err() {
        auth.end_session(signed_in["access_token"].as_str()).await;
    }
    checked.map(Some)
}

/// Ends the session at Auth of a member whom the console does not let in after all.
pub(super) async fn end_session(
    state: &ConsoleState,
    api: &ThreadApi,
    caller: &Session,
    token: &SecretString,
) {
    let auth = Auth { state, api, caller };
    auth.end_session(Some(token.expose_secret())).await;
}

impl Auth<'_> {
    async fn end_session(&self, token: Option<&str>) {
        let ended = self.post("/auth/v1/logout?scope=local", token, json!({})).await;
        if let Err(error) = ended {
            tracing::warn!(%error, "a session of Auth stays after a refused sign-in to the console");
        }
    }

    async fn check_password(&self, guess: &Credentials<'_>) -> Result<Option<Value>, ConsoleError> {
        // The name of an account whose password was wrong is no address, and Auth's complaint about it would confuse.
        if !guess.name.contains('@') && !is_phone_number(guess.name) {
            return Ok(None);
        }
        // With the service key Auth requires no captcha, which the console's page does not have.
        let key = self.state.api()?.service_key.expose_secret();
        let body = match guess.name.contains('@') {
            true => json!({ "email": guess.name, "password": guess.password }),
            false => json!({ "phone": guess.name, "password": guess.password }),
        };
        let answer = self
            .post("/auth/v1/token?grant_type=password", Some(key), body)
            .await?;
        match answer.status {
            StatusCode::OK => Ok(Some(answer.body)),
            _ if has_invalid_credentials(&answer) || is_way_disabled(&answer) => Ok(None),
            _ => Err(to_console_error(&answer)),
        }
    }

    /// Checks level and second factor after the password was verified.
    async fn check_user(&self, signed_in: &Value, code: Option<&str>) -> Result<Member, ConsoleError> {
        let user = &signed_in["user"];
        let id = user["id"].as_str().and_then(|id| id.parse::<Uuid>().ok());
        let level = user["app_metadata"]["console"].as_str();
        let (Some(id), Some(_)) = (id, level.and_then(|level| level.parse::<Level>().ok())) else {
            return Err(
                ConsoleError::forbidden("This user is not admitted to the console").with_hint(
                    "An admin gives users a level: app_metadata.console = \"viewer\" or \"admin\"",
                ),
            );
        };
        let factor = user["factors"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|factor| factor["factor_type"] == "totp" && factor["status"] == "verified");
        let Some(factor) = factor.and_then(|factor| factor["id"].as_str()) else {
            return Err(ConsoleError::forbidden(
                "Users of the project sign in to the console with a second factor, and this user has none",
            )
            .with_hint("Enrol an authenticator app in your application"));
        };
        let code = code.ok_or_else(|| {
            ConsoleError::new(
                StatusCode::UNAUTHORIZED,
                "code_required",
                "Enter the code of your authenticator app",
            )
        })?;
        let token = signed_in["access_token"].as_str();
        let auth_session = token
            .and_then(read_session_id)
            .ok_or_else(|| ConsoleError::unavailable("Auth did not answer as expected"))?;
        self.check_code(token, factor, code).await?;
        // The same question as at each later request of the session.
        let member = find_member(&self.state.database, id, auth_session).await?;
        let (name, level) =
            member.ok_or_else(|| ConsoleError::forbidden("This user is not admitted to the console"))?;
        Ok(Member {
            id,
            auth_session,
            name,
            level,
            token: token.unwrap_or_default().into(),
        })
    }

    async fn check_code(&self, token: Option<&str>, factor: &str, code: &str) -> Result<(), ConsoleError> {
        let path = format!("/auth/v1/factors/{factor}/challenge");
        let challenge = self.post(&path, token, json!({})).await?;
        if !challenge.status.is_success() {
            return Err(to_console_error(&challenge));
        }
        let path = format!("/auth/v1/factors/{factor}/verify");
        let body = json!({ "challenge_id": challenge.body["id"], "code": code });
        let answer = self.post(&path, token, body).await?;
        if answer.status.is_success() {
            return Ok(());
        }
        // Every other error gets the same response, so that it does not help to guess codes.
        if answer.status.is_server_error() || answer.status == StatusCode::TOO_MANY_REQUESTS {
            return Err(to_console_error(&answer));
        }
        Err(ConsoleError::new(
            StatusCode::UNAUTHORIZED,
            "invalid_code",
            "The code is wrong or has expired",
        ))
    }

    async fn post(&self, path: &str, token: Option<&str>, body: Value) -> Result<Answer, ConsoleError> {
        let call = Call {
            method: Method::POST,
            path: path.to_owned(),
            body,
            key: &self.state.config.publishable_key,
            token,
            request_id: &self.caller.request_id,
            address: &self.caller.address,
        };
        call_service(self.state, self.api, call).await
    }
}

/// The claim `session_id` of an access token that Auth has just signed, so that its signature need not be checked.
fn read_session_id(token: &str) -> Option<Uuid> {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    claims["session_id"].as_str()?.parse().ok()
}

/// Whether Auth's response means that the address or password is wrong.
fn has_invalid_credentials(answer: &Answer) -> bool {
    ["error_code", "code"]
        .iter()
        .any(|name| answer.body[*name] == "invalid_credentials")
        || answer.body["error"] == "invalid_grant"
}

/// Whether nobody signs in with this kind of name, so that it belongs to nobody.
fn is_way_disabled(answer: &Answer) -> bool {
    ["phone_provider_disabled", "email_provider_disabled"]
        .iter()
        .any(|code| answer.body["error_code"] == *code || answer.body["code"] == *code)
}

fn is_phone_number(name: &str) -> bool {
    name.bytes().any(|byte| byte.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"+-(). ".contains(&byte))
}

/// Converts an error response of Auth, for example for an unconfirmed address; its message is kept.
fn to_console_error(answer: &Answer) -> ConsoleError {
    let text = ["msg", "message", "error_description"]
        .iter()
        .find_map(|name| answer.body[*name].as_str());
    let text = text.unwrap_or("Auth did not answer as expected").to_owned();
    match answer.status {
        StatusCode::TOO_MANY_REQUESTS => ConsoleError::new(StatusCode::TOO_MANY_REQUESTS, "too_many", text),
        status if status.is_server_error() => ConsoleError::unavailable(text),
        _ => ConsoleError::forbidden(text),
    }
}
