//! Test calls of Auth's configuration, for the console: request a provider's sign-in page, call a hook with a sample, render a mail.
//! They use the same HTTP client as real sign-ins, with its limits and its rules for private addresses.

use std::time::Instant;

use actix_web::web;
use selvedge_mail::{MailFields, MailKind, RenderedMail};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::error::AuthError;
use crate::flows::start_provider_sign_in::find_provider;
use crate::hooks::{HookPoint, call_hook};
use crate::http_client::Call;
use crate::providers::AuthorizeRequest;
use crate::request::{AuthRequest, RequestInfo};
use crate::state::AuthState;
use crate::store::users;

/// The user id in samples, which no user has.
const SAMPLE_USER: Uuid = Uuid::nil();
const SAMPLE_EMAIL: &str = "sample@example.com";
const SAMPLE_PHONE: &str = "15550100";
const SAMPLE_CODE: &str = "123456";
/// The longest sign-in page that is read, in bytes. Only its status is used.
const LONGEST_PAGE: usize = 4 << 20;

/// The result of requesting a provider's sign-in page.
#[derive(Debug, Clone)]
pub struct ProviderTrial {
    /// URL of the sign-in page without its query string.
    pub address: String,
    /// HTTP status of the response.
    pub status: u16,
    /// Duration in milliseconds, including the discovery of the provider's endpoints.
    pub elapsed_ms: u64,
}

/// The result of calling a hook.
#[derive(Debug, Clone)]
pub struct HookTrial {
    /// The payload that was sent.
    pub input: Value,
    /// The hook's response; null if it returned nothing.
    pub output: Value,
    /// The hook's error message, or the reason why it could not be called; `None` after a success.
    pub refusal: Option<String>,
    /// Duration in milliseconds.
    pub elapsed_ms: u64,
}

/// Builds the URL of the provider's sign-in page, as for a sign-in, and requests it.
///
/// # Errors
/// A sentence that says why there is no URL, or no response.
pub async fn try_provider(state: &AuthState, name: &str) -> Result<ProviderTrial, String> {
    let provider = find_provider(state, name)
        .await
        .map_err(|error| error.to_string())?
        .ok_or("The provider is not enabled, or a setting that it needs is missing")?;
    let http = state.http_for_provider(name);
    let begun = Instant::now();
    let flow = SAMPLE_USER.to_string();
    // OAuth 1.0a begins with a signed request, which fails if the credentials are wrong.
    let request_token = provider.fetch_request_token(http, &flow).await;
    let request_token = request_token.map_err(|error| error.to_string())?;
    let request = AuthorizeRequest {
        state: &flow,
        scopes: "",
        extra_params: &[],
        challenge: None,
        request_token: request_token.as_ref(),
    };
    let url = provider.build_authorize_url(http, &state.issuers, &request).await;
    let url = url.map_err(|error| error.to_string())?;
    let call = Call::get(url.as_str()).max_response_bytes(LONGEST_PAGE);
    let response = http.send(call).await.map_err(|error| error.to_string())?;
    Ok(ProviderTrial {
        address: url.split(['?', '#']).next().unwrap_or_default().to_owned(),
        status: response.status,
        elapsed_ms: elapsed_ms(begun),
    })
}

/// Calls a hook with a sample payload, for an existing user if one is given. Writes of a database function are rolled back; an HTTP
/// endpoint receives a real request.
///
/// # Errors
/// A sentence when there is no such hook or user, or the database does not respond.
pub async fn try_hook(
    state: web::Data<AuthState>,
    name: &str,
    user_id: Option<Uuid>,
) -> Result<HookTrial, String> {
    let point = HookPoint::from_config_name(name).filter(|point| point.is_set(&state));
    let point = point.ok_or("This hook is not enabled")?;
    let info = RequestInfo::without_client(&state);
    let request = AuthRequest { state, info };
    let text = |error: AuthError| error.to_string();
    let mut client = request.connect().await.map_err(text)?;
    let transaction = client.transaction().await.map_err(|error| text(error.into()))?;
    let user = match user_id {
        None => sample_user(),
        Some(id) => users::find_by_id(&transaction, id)
            .await
            .map_err(|error| text(error.into()))?
            .map(|user| json!(user.body()))
            .ok_or("There is no user with this id")?,
    };
    let input = sample_input(point, user, &request);
    // Real sign-ins commit what some hooks write, for example to count attempts. A test call is rolled back.
    let begun = Instant::now();
    let result = call_hook(&request, &transaction, point, input.clone()).await;
    let elapsed_ms = elapsed_ms(begun);
    transaction.rollback().await.map_err(|error| text(error.into()))?;
    let (output, refusal) = match result {
        Ok(output) => (output.unwrap_or_default(), None),
        Err(error) => (Value::Null, Some(error.to_string())),
    };
    Ok(HookTrial {
        input,
        output,
        refusal,
        elapsed_ms,
    })
}

/// Renders a mail with sample data. Its link is not valid.
pub fn render_sample_mail(state: &AuthState, kind: MailKind) -> RenderedMail {
    let config = &state.config;
    let fields = MailFields {
        site_url: config.site_url.clone(),
        confirmation_url: format!(
            "{}/verify?token=sample&type=signup&redirect_to={}",
            config.external_url, config.site_url
        ),
        email: SAMPLE_EMAIL.to_owned(),
        new_email: "new@example.com".to_owned(),
        sending_to: SAMPLE_EMAIL.to_owned(),
        token: SAMPLE_CODE.to_owned(),
        token_hash: "sample".to_owned(),
        redirect_to: config.site_url.clone(),
        old_email: "old@example.com".to_owned(),
        phone: SAMPLE_PHONE.to_owned(),
        old_phone: "15550101".to_owned(),
        provider: "github".to_owned(),
        factor_type: "totp".to_owned(),
        data: json!({ "name": "Sample User" }),
    };
    state.templates.render(kind, &fields)
}

/// Whether Auth may redirect browsers to this URL after a sign-in.
pub fn is_redirect_allowed(state: &AuthState, url: &str) -> bool {
    state.redirects.is_allowed(url)
}

fn sample_user() -> Value {
    json!({
        "id": SAMPLE_USER, "aud": "authenticated", "role": "authenticated", "email": SAMPLE_EMAIL, "phone": SAMPLE_PHONE,
        "app_metadata": { "provider": "email", "providers": ["email"] },
        "user_metadata": { "name": "Sample User" }, "identities": [], "is_anonymous": false,
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    })
}

/// Returns a hook's payload without its metadata, in the shape of real calls.
fn sample_input(point: HookPoint, user: Value, request: &AuthRequest) -> Value {
    let id = user["id"].clone();
    match point {
        HookPoint::BeforeUserCreated | HookPoint::AfterUserCreated => json!({ "user": user }),
        HookPoint::CustomAccessToken => json!({
            "user_id": id, "claims": sample_claims(&user), "authentication_method": "password",
        }),
        HookPoint::SendSms => json!({
            "user": user, "sms": { "otp": SAMPLE_CODE, "phone": SAMPLE_PHONE },
        }),
        HookPoint::SendEmail => json!({
            "user": user,
            "email_data": {
                "token": SAMPLE_CODE, "token_hash": "sample", "redirect_to": request.info.redirect_to,
                "email_action_type": "signup", "site_url": request.info.external_url, "token_new": "",
                "token_hash_new": "", "old_email": "", "old_phone": "", "provider": "", "factor_type": "",
            },
        }),
        HookPoint::MfaVerification => json!({
            "user_id": id, "factor_id": SAMPLE_USER, "factor_type": "totp", "valid": true,
        }),
        HookPoint::PasswordVerification => json!({ "user_id": id, "valid": true }),
    }
}

fn sample_claims(user: &Value) -> Value {
    let now = chrono::Utc::now().timestamp();
    json!({
        "sub": user["id"], "aud": user["aud"], "role": user["role"], "email": user["email"], "phone": user["phone"],
        "app_metadata": user["app_metadata"], "user_metadata": user["user_metadata"], "aal": "aal1",
        "amr": [{ "method": "password", "timestamp": now }], "session_id": SAMPLE_USER, "is_anonymous": false,
        "iat": now, "exp": now + 3600,
    })
}

fn elapsed_ms(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
