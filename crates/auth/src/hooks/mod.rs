//! Hooks: points at which code of the project is called, to decide or to be informed. A function of the
//! project's database runs inside the request's transaction; an HTTP hook is called with a signature after
//! Standard Webhooks.
//!
//! A hook refuses by returning `{"error": {"http_code": 403, "message": "…"}}`. Source: Auth contract §4.5.

use chrono::SecondsFormat;
use deadpool_postgres::GenericClient;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::config::HookConfig;
use crate::error::{AuthError, HookError, MfaError};
use crate::request::{AuthRequest, RequestInfo};
use crate::state::AuthState;
use crate::store::user_access::{self, AccessEnd};
use crate::user::User;

mod function;
mod http;

/// Message when a hook rejects a second factor without giving its own.
const MFA_REJECTED: &str = "Further MFA verification attempts will be rejected.";
/// Message when a hook rejects a password attempt without giving its own.
const PASSWORD_REJECTED: &str = "Further password verification attempts will be rejected.";

/// The points at which a hook can be configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookPoint {
    BeforeUserCreated,
    AfterUserCreated,
    CustomAccessToken,
    SendSms,
    SendEmail,
    MfaVerification,
    PasswordVerification,
}

impl HookPoint {
    /// The name in the `metadata` of the hook's input.
    fn name(self) -> &'static str {
        match self {
            Self::BeforeUserCreated => "before-user-created",
            Self::AfterUserCreated => "after-user-created",
            Self::CustomAccessToken => "customize-access-token",
            Self::SendSms => "send-sms",
            Self::SendEmail => "send-email",
            Self::MfaVerification => "mfa-verification",
            Self::PasswordVerification => "password-verification",
        }
    }

    /// Returns the hook that `config.toml` configures as `[auth.hook.<name>]`.
    pub(crate) fn from_config_name(name: &str) -> Option<Self> {
        Some(match name {
            "before_user_created" => Self::BeforeUserCreated,
            "after_user_created" => Self::AfterUserCreated,
            "custom_access_token" => Self::CustomAccessToken,
            "send_sms" => Self::SendSms,
            "send_email" => Self::SendEmail,
            "mfa_verification_attempt" => Self::MfaVerification,
            "password_verification_attempt" => Self::PasswordVerification,
            _ => return None,
        })
    }

    /// The project's configuration for this point, if it has a hook there.
    fn hook(self, state: &AuthState) -> Option<&HookConfig> {
        let hooks = &state.config.hooks;
        match self {
            Self::BeforeUserCreated => hooks.before_user_created.as_ref(),
            Self::AfterUserCreated => hooks.after_user_created.as_ref(),
            Self::CustomAccessToken => hooks.custom_access_token.as_ref(),
            Self::SendSms => hooks.send_sms.as_ref(),
            Self::SendEmail => hooks.send_email.as_ref(),
            Self::MfaVerification => hooks.mfa_verification_attempt.as_ref(),
            Self::PasswordVerification => hooks.password_verification_attempt.as_ref(),
        }
    }

    /// Whether the hook decides about the request, so that its output must be a JSON object.
    fn decides(self) -> bool {
        match self {
            Self::BeforeUserCreated
            | Self::CustomAccessToken
            | Self::MfaVerification
            | Self::PasswordVerification => true,
            Self::AfterUserCreated | Self::SendSms | Self::SendEmail => false,
        }
    }

    /// Whether the project has a hook here.
    pub(crate) fn is_set(self, state: &AuthState) -> bool {
        self.hook(state).is_some()
    }
}

/// Calls the hook inside the caller's transaction; `None` when the project has none. `input` gets its `metadata` here.
///
/// # Errors
/// The error that the hook returns; 422 `hook_timeout`, `hook_timeout_after_retry` or `hook_payload_over_size_limit`;
/// 400 `hook_payload_invalid_content_type`; 500.
pub(crate) async fn call_hook(
    request: &AuthRequest,
    db: &impl GenericClient,
    point: HookPoint,
    input: Value,
) -> Result<Option<Value>, AuthError> {
    let Some(hook) = point.hook(&request.state) else {
        return Ok(None);
    };
    let input = add_metadata(point, &request.info, input);
    let output = match hook {
        HookConfig::Function { schema, function } => {
            let output = function::call_function(db, schema, function, &input).await?;
            // A function that returns void or null was not asked, or has forgotten a case: it must not allow by that.
            if output.is_null() && point.decides() {
                return Err(HookError::MalformedOutput.into());
            }
            output
        }
        HookConfig::Http { url, secrets } => {
            http::call_endpoint(&request.state.restricted_http, url, secrets, &input).await?
        }
    };
    read_refusal(&output).map_or(Ok(Some(output)), Err)
}

/// Like [`call_hook`], but what a database function has written stays, also when it refuses or a later step of the
/// request fails. Projects count attempts in such hooks.
///
/// The caller's transaction is committed after the call and a new one begins in its place; so the caller must not have
/// changed rows in it yet, and must not rely on locks that it took before.
///
/// # Errors
/// See [`call_hook`].
pub(crate) async fn call_and_commit(
    request: &AuthRequest,
    db: &impl GenericClient,
    point: HookPoint,
    input: Value,
) -> Result<Option<Value>, AuthError> {
    let result = call_hook(request, db, point, input).await;
    if let Some(HookConfig::Function { .. }) = point.hook(&request.state) {
        // After an error raised in SQL this is a rollback, so what such a function wrote before it is gone.
        db.batch_execute("commit and chain").await?;
    }
    result
}

/// Like [`call_hook`], outside of a transaction: a database function gets one of its own.
///
/// # Errors
/// See [`call_hook`].
pub(crate) async fn call_hook_in_own_transaction(
    request: &AuthRequest,
    point: HookPoint,
    input: Value,
) -> Result<Option<Value>, AuthError> {
    match point.hook(&request.state) {
        None => Ok(None),
        Some(HookConfig::Http { url, secrets }) => {
            let input = add_metadata(point, &request.info, input);
            let output = http::call_endpoint(&request.state.restricted_http, url, secrets, &input).await?;
            read_refusal(&output).map_or(Ok(Some(output)), Err)
        }
        Some(HookConfig::Function { .. }) => {
            let mut client = request.connect().await?;
            let db = client.transaction().await?;
            let output = call_hook(request, &db, point, input).await?;
            db.commit().await?;
            Ok(output)
        }
    }
}

/// Calls `custom_access_token`, which may change the claims of an access token but not remove the required ones.
///
/// # Errors
/// 500 when required claims are gone, and whatever the hook refuses with.
pub(crate) async fn customize_claims(
    request: &AuthRequest,
    db: &impl GenericClient,
    (user_id, method): (Uuid, &str),
    claims: Value,
) -> Result<Value, AuthError> {
    let input = json!({"user_id": user_id, "claims": claims, "authentication_method": method});
    let Some(mut output) = call_hook(request, db, HookPoint::CustomAccessToken, input).await? else {
        return Ok(claims);
    };
    match output.get_mut("claims").map(Value::take) {
        Some(Value::Object(claims)) if has_required_claims(&claims) => Ok(Value::Object(claims)),
        Some(Value::Object(_)) => Err(HookError::InvalidClaims.into()),
        _ => Err(HookError::NoClaims.into()),
    }
}

/// Whether all claims that clients and policies rely on are present with their types.
fn has_required_claims(claims: &Map<String, Value>) -> bool {
    let text = ["sub", "email", "phone", "role", "aal", "session_id"];
    text.iter()
        .all(|name| claims.get(*name).is_some_and(Value::is_string))
        && ["exp", "iat"]
            .iter()
            .all(|name| claims.get(*name).is_some_and(Value::is_number))
        && claims.get("is_anonymous").is_some_and(Value::is_boolean)
        && claims
            .get("aud")
            .is_some_and(|audience| audience.is_string() || audience.is_array())
}

/// Calls `password_verification_attempt`. A wrong password stays an error for the caller to raise.
///
/// # Errors
/// 400 `invalid_credentials` with the hook's message when it rejects; it may end the user's sessions, too.
pub(crate) async fn report_password_attempt(
    request: &AuthRequest,
    user_id: Uuid,
    valid: bool,
) -> Result<(), AuthError> {
    let input = json!({"user_id": user_id, "valid": valid});
    let Some(output) = call_hook_in_own_transaction(request, HookPoint::PasswordVerification, input).await?
    else {
        return Ok(());
    };
    if output["decision"] != "reject" {
        return Ok(());
    }
    if output["should_logout_user"] == true {
        end_sessions(request, user_id).await?;
    }
    Err(HookError::PasswordRejected(read_message(&output, PASSWORD_REJECTED)).into())
}

/// Calls `mfa_verification_attempt` with whether the code was right. A wrong code stays an error for the caller to
/// raise.
///
/// # Errors
/// 403 `mfa_verification_rejected` when it rejects; all sessions of the user end then.
pub(crate) async fn report_factor_attempt(
    request: &AuthRequest,
    (user_id, factor_id, factor_type): (Uuid, Uuid, &str),
    valid: bool,
) -> Result<(), AuthError> {
    let input =
        json!({"user_id": user_id, "factor_id": factor_id, "factor_type": factor_type, "valid": valid});
    let Some(output) = call_hook_in_own_transaction(request, HookPoint::MfaVerification, input).await? else {
        return Ok(());
    };
    if output["decision"] != "reject" {
        return Ok(());
    }
    end_sessions(request, user_id).await?;
    Err(MfaError::RejectedByHook(read_message(&output, MFA_REJECTED)).into())
}

/// Signs the user out everywhere, because a hook wants it.
async fn end_sessions(request: &AuthRequest, user_id: Uuid) -> Result<(), AuthError> {
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    user_access::end(&db, user_id, AccessEnd::SignedOut { kept: None }, request.now()).await?;
    Ok(db.commit().await?)
}

/// Calls `after_user_created`, after the commit. Its result is ignored and an error is logged only.
pub(crate) async fn call_after_user_created(request: &AuthRequest, user: &User) {
    if !HookPoint::AfterUserCreated.is_set(&request.state) {
        return;
    }
    let input = json!({ "user": user.body() });
    if let Err(error) = call_hook_in_own_transaction(request, HookPoint::AfterUserCreated, input).await {
        tracing::warn!(%error, "the hook after_user_created failed");
    }
}

/// The hook's message, or the default if it gives none.
fn read_message(output: &Value, default: &'static str) -> String {
    let text = output["message"].as_str().filter(|text| !text.is_empty());
    text.unwrap_or(default).to_owned()
}

/// Adds `metadata` to the input: an id for this call, time, name of the hook and the client's address.
fn add_metadata(point: HookPoint, info: &RequestInfo, input: Value) -> Value {
    let mut whole = Map::new();
    let metadata = json!({
        "uuid": Uuid::new_v4(),
        "time": chrono::Utc::now().to_rfc3339_opts(SecondsFormat::Nanos, true),
        "name": point.name(),
        "ip_address": info.ip,
    });
    whole.insert("metadata".to_owned(), metadata);
    if let Value::Object(input) = input {
        whole.extend(input);
    }
    Value::Object(whole)
}

/// The error in a hook's output. Compat: an error object without a message is ignored, as upstream does.
fn read_refusal(output: &Value) -> Option<AuthError> {
    if !output.is_object() && !output.is_null() {
        // An access-control hook with an invalid response denies.
        return Some(AuthError::from(HookError::MalformedOutput));
    }
    let error = output.get("error")?;
    let message = error["message"].as_str().filter(|text| !text.is_empty())?;
    let status = error["http_code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let status = status.filter(|code| (400..600).contains(code)).unwrap_or(500);
    let message = message.to_owned();
    Some(HookError::Refused { status, message }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_080_an_error_object_of_a_hook_refuses_the_request() {
        let status = |output: Value| read_refusal(&output).map(|error| error.status_and_code().0);

        assert_eq!(status(json!({})), None);
        assert_eq!(status(Value::Null), None);
        assert_eq!(status(json!([])), Some(500));
        assert_eq!(status(json!("continue")), Some(500));
        assert_eq!(status(json!({"error": {"message": ""}})), None);
        assert_eq!(status(json!({"error": {"message": "no"}})), Some(500));
        assert_eq!(
            status(json!({"error": {"http_code": 403, "message": "no"}})),
            Some(403)
        );
        assert_eq!(
            status(json!({"error": {"http_code": 200, "message": "no"}})),
            Some(500)
        );
    }

    #[test]
    fn auth_079_a_hook_may_not_remove_required_claims() {
        let claims = json!({
            "aud": "authenticated", "exp": 2, "iat": 1, "sub": "x", "email": "", "phone": "", "role": "authenticated",
            "aal": "aal1", "session_id": "y", "is_anonymous": false,
        });
        let Value::Object(claims) = claims else { return };

        assert!(has_required_claims(&claims));
        for name in claims.keys() {
            let mut fewer = claims.clone();
            fewer.shift_remove(name);
            assert!(!has_required_claims(&fewer), "{name}");
        }
    }
}
