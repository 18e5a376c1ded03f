//! Hooks: points at which a project's own code has a say. A function of the project's database runs inside the transaction it is
//! about; an HTTP hook is called with a signature of the Standard Webhooks kind.
//!
//! A hook refuses by answering `{"error": {"http_code": 403, "message": "…"}}`. Source: Auth contract §4.5.

use chrono::SecondsFormat;
use deadpool_postgres::GenericClient;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::config::HookConfig;
use crate::error::AuthError;
use crate::request::RequestInfo;
use crate::state::AuthState;
use crate::user::User;

mod function;
mod http;

pub(crate) use http::decode_key;

const MFA_REJECTED: &str = "Further MFA verification attempts will be rejected.";
const PASSWORD_REJECTED: &str = "Further password verification attempts will be rejected.";

/// The points, as hooks know them.
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

    /// Whether the project has a hook here.
    pub(crate) fn is_set(self, state: &AuthState) -> bool {
        self.hook(state).is_some()
    }
}

/// Calls the hook inside the caller's transaction; `None` when the project has none. `input` gets its `metadata` here.
///
/// # Errors
/// What the hook refused with, 422 `hook_timeout` and its kin, or 500.
pub(crate) async fn call(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    point: HookPoint,
    input: Value,
) -> Result<Option<Value>, AuthError> {
    let Some(hook) = point.hook(state) else {
        return Ok(None);
    };
    let input = with_metadata(point, info, input);
    let output = match hook {
        HookConfig::Function { schema, function } => function::call(db, schema, function, &input).await?,
        HookConfig::Http { url, secrets } => http::call(&state.http, url, secrets, &input).await?,
    };
    refusal(&output).map_or(Ok(Some(output)), Err)
}

/// The same without a transaction around it: a function gets one of its own.
///
/// # Errors
/// See [`call`].
pub(crate) async fn call_alone(
    state: &AuthState,
    info: &RequestInfo,
    point: HookPoint,
    input: Value,
) -> Result<Option<Value>, AuthError> {
    match point.hook(state) {
        None => Ok(None),
        Some(HookConfig::Http { url, secrets }) => {
            let input = with_metadata(point, info, input);
            let output = http::call(&state.http, url, secrets, &input).await?;
            refusal(&output).map_or(Ok(Some(output)), Err)
        }
        Some(HookConfig::Function { .. }) => {
            let mut client = state.client().await?;
            let db = client.transaction().await?;
            let output = call(state, &db, info, point, input).await?;
            db.commit().await?;
            Ok(output)
        }
    }
}

/// Lets the project's code change the claims of an access token; the required ones must survive.
///
/// # Errors
/// 500 when required claims are gone, and whatever the hook refuses with.
pub(crate) async fn customize_claims(
    state: &AuthState,
    db: &impl GenericClient,
    info: &RequestInfo,
    (user_id, method): (Uuid, &str),
    claims: Value,
) -> Result<Value, AuthError> {
    let input = json!({"user_id": user_id, "claims": claims, "authentication_method": method});
    let Some(mut output) = call(state, db, info, HookPoint::CustomAccessToken, input).await? else {
        return Ok(claims);
    };
    match output.get_mut("claims").map(Value::take) {
        Some(Value::Object(claims)) if keeps_required(&claims) => Ok(Value::Object(claims)),
        Some(Value::Object(_)) => Err(AuthError::coded(
            500,
            "unexpected_failure",
            "output claims do not conform to the expected schema: a required claim is missing or of another type",
        )),
        _ => Err(AuthError::coded(
            500,
            "unexpected_failure",
            "output claims field is missing",
        )),
    }
}

fn keeps_required(claims: &Map<String, Value>) -> bool {
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

/// Tells the hook about an attempt to prove a password. The attempt's own outcome stays with the caller.
///
/// # Errors
/// 400 `invalid_credentials` with the hook's message when it rejects; it may end the user's sessions, too.
pub(crate) async fn password_attempted(
    state: &AuthState,
    info: &RequestInfo,
    user_id: Uuid,
    valid: bool,
) -> Result<(), AuthError> {
    let input = json!({"user_id": user_id, "valid": valid});
    let Some(output) = call_alone(state, info, HookPoint::PasswordVerification, input).await? else {
        return Ok(());
    };
    if output["decision"] != "reject" {
        return Ok(());
    }
    if output["should_logout_user"] == true {
        let client = state.client().await?;
        crate::store::sessions::delete_of_user(&client, user_id).await?;
    }
    Err(AuthError::coded(
        400,
        "invalid_credentials",
        message(&output, PASSWORD_REJECTED),
    ))
}

/// Tells the hook about an attempt to prove a second factor.
///
/// # Errors
/// 403 `mfa_verification_rejected` when it rejects; all sessions of the user end then.
pub(crate) async fn factor_attempted(
    state: &AuthState,
    info: &RequestInfo,
    (user_id, factor_id, factor_type): (Uuid, Uuid, &str),
    valid: bool,
) -> Result<(), AuthError> {
    let input =
        json!({"user_id": user_id, "factor_id": factor_id, "factor_type": factor_type, "valid": valid});
    let Some(output) = call_alone(state, info, HookPoint::MfaVerification, input).await? else {
        return Ok(());
    };
    if output["decision"] != "reject" {
        return Ok(());
    }
    let client = state.client().await?;
    crate::store::sessions::delete_of_user(&client, user_id).await?;
    Err(AuthError::coded(
        403,
        "mfa_verification_rejected",
        message(&output, MFA_REJECTED),
    ))
}

/// Tells the hook about a new user, after everything is committed. Nobody waits for it, and its answer changes nothing.
pub(crate) async fn user_was_created(state: &AuthState, info: &RequestInfo, user: &User) {
    if !HookPoint::AfterUserCreated.is_set(state) {
        return;
    }
    let input = json!({ "user": user.body() });
    if let Err(error) = call_alone(state, info, HookPoint::AfterUserCreated, input).await {
        tracing::warn!(%error, "the hook after_user_created failed");
    }
}

fn message(output: &Value, default: &'static str) -> String {
    let text = output["message"].as_str().filter(|text| !text.is_empty());
    text.unwrap_or(default).to_owned()
}

fn with_metadata(point: HookPoint, info: &RequestInfo, input: Value) -> Value {
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

/// The error in an output. One without a message is none, as upstream has it.
fn refusal(output: &Value) -> Option<AuthError> {
    if !output.is_object() && !output.is_null() {
        // A hook that guards a door and speaks nonsense must not open it.
        return Some(AuthError::coded(
            500,
            "unexpected_failure",
            "Error unmarshaling JSON output.",
        ));
    }
    let error = output.get("error")?;
    let message = error["message"].as_str().filter(|text| !text.is_empty())?;
    let status = error["http_code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let status = status.filter(|code| (400..600).contains(code)).unwrap_or(500);
    let code = if status == 500 {
        "unexpected_failure"
    } else {
        "unknown"
    };
    Some(AuthError::coded(status, code, message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_080_an_error_object_refuses() {
        let status = |output: Value| refusal(&output).map(|error| error.redirect_parts().0);

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
    fn auth_079_required_claims_must_survive() {
        let claims = json!({
            "aud": "authenticated", "exp": 2, "iat": 1, "sub": "x", "email": "", "phone": "", "role": "authenticated",
            "aal": "aal1", "session_id": "y", "is_anonymous": false,
        });
        let Value::Object(claims) = claims else { return };

        assert!(keeps_required(&claims));
        for name in claims.keys() {
            let mut fewer = claims.clone();
            fewer.shift_remove(name);
            assert!(!keeps_required(&fewer), "{name}");
        }
    }
}
