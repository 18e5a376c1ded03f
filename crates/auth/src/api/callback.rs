//! `GET|POST /callback`: the browser comes back from the provider. Whatever happens, it is sent on: with tokens, a code, or why not.
//!
//! Calls to the provider are made while no database connection is held. Source: Auth contract §2.11, §8.2, AUTH-039 to AUTH-048.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use chrono::TimeDelta;
use serde_json::Value;
use uuid::Uuid;

use super::authorize::find_provider;
use crate::error::AuthError;
use crate::external_accounts::{self, Admission, Visitor};
use crate::providers::{Profile, Provider, ProviderTokens};
use crate::request::RequestInfo;
use crate::rules::redirect::{with_fragment, with_query};
use crate::sign_in::{TokenPair, start_session};
use crate::state::AuthState;
use crate::store::flow_states;
use crate::store::provider_flows::{self, ProviderFlow};

/// A visit to the provider, and the exchange afterwards, must fit into this.
const FLOW_LIFE: TimeDelta = TimeDelta::seconds(300);

/// The longest form that a provider posts; Apple's holds a name and a code.
const LARGEST_FORM_BYTES: usize = 64 * 1024;

/// What the browser carries back, in the query or in a form.
pub(crate) struct Returned(Vec<(String, String)>);

impl Returned {
    fn parse(text: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(text).into_owned().collect())
    }

    fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// What the visit came to.
enum Outcome {
    Session {
        tokens: Box<TokenPair>,
        provider: ProviderTokens,
    },
    AuthCode(String),
}

/// `GET /callback?state=…&code=…`
pub(crate) async fn callback_query(
    state: web::Data<AuthState>,
    info: RequestInfo,
    request: HttpRequest,
) -> HttpResponse {
    let returned = Returned::parse(request.query_string().as_bytes());
    answer(&state, info, &returned).await
}

/// `POST /callback`: Apple sends a form.
pub(crate) async fn callback_form(
    state: web::Data<AuthState>,
    info: RequestInfo,
    body: web::Bytes,
) -> HttpResponse {
    let returned = Returned::parse(&body[..body.len().min(LARGEST_FORM_BYTES)]);
    answer(&state, info, &returned).await
}

async fn answer(state: &AuthState, mut info: RequestInfo, returned: &Returned) -> HttpResponse {
    let flow = match find_flow(state, returned.get("state")).await {
        Ok(flow) => flow,
        Err(error) => {
            let location = with_query(&state.config.site_url, &pairs(&error).borrowed());
            log(&error);
            return HttpResponse::SeeOther()
                .insert_header((header::LOCATION, location))
                .insert_header((header::CACHE_CONTROL, "no-store"))
                .finish();
        }
    };
    if !flow.referrer.is_empty() {
        info.redirect_to.clone_from(&flow.referrer);
    }
    let location = match finish(state, &info, returned, &flow).await {
        Ok(Outcome::AuthCode(code)) => with_query(&info.redirect_to, &[("code", &code)]),
        Ok(Outcome::Session { tokens, provider }) => session_location(&info.redirect_to, &tokens, &provider),
        Err(error) => {
            log(&error);
            error_location(&info.redirect_to, &error)
        }
    };
    HttpResponse::Found()
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .finish()
}

/// The visit that this state stands for.
async fn find_flow(state: &AuthState, text: &str) -> Result<ProviderFlow, AuthError> {
    if text.is_empty() {
        return Err(AuthError::BadOauthCallback("OAuth state parameter missing"));
    }
    let id: Uuid = text
        .parse()
        .map_err(|_| AuthError::BadOauthState("OAuth state parameter is invalid"))?;
    let client = state.client().await?;
    let flow = provider_flows::find_by_id(&client, id).await?;
    let flow = flow.ok_or(AuthError::BadOauthState("OAuth state not found or expired"))?;
    if state.now() - flow.created_at > FLOW_LIFE {
        return Err(AuthError::BadOauthState("OAuth state has expired"));
    }
    if flow.is_pkce && flow.user_id.is_some() {
        return Err(AuthError::FlowStateAlreadyUsed);
    }
    Ok(flow)
}

async fn finish(
    state: &AuthState,
    info: &RequestInfo,
    returned: &Returned,
    flow: &ProviderFlow,
) -> Result<Outcome, AuthError> {
    let error = returned.get("error");
    if !error.is_empty() {
        return Err(AuthError::oauth(
            error.to_owned(),
            returned.get("error_description"),
        ));
    }
    // Twitter's word for a visitor who said no.
    if !returned.get("denied").is_empty() {
        return Err(AuthError::oauth("access_denied", "The user denied the request"));
    }
    let provider = find_provider(state, &flow.provider).await?;
    let provider = provider.ok_or_else(|| AuthError::OauthProviderNotSupported(flow.provider.clone()))?;
    let code = returned.get(provider.code_parameter());
    if code.is_empty() {
        return Err(AuthError::BadOauthCallback(
            "OAuth callback with missing authorization code missing",
        ));
    }
    let verifier = take_verifier(state, flow, &provider).await?;
    let tokens = provider
        .redeem(&state.http, &state.issuers, code, verifier.as_deref())
        .await
        .map_err(|error| AuthError::internal("Unable to exchange external code", error))?;
    let profile = provider
        .profile(&state.http, &state.issuers, &tokens)
        .await
        .map_err(|error| AuthError::internal("Error getting user profile from external provider", error))?;
    let profile = with_posted_name(profile, &flow.provider, returned.get("user"));
    if profile.emails.is_empty() && !flow.email_optional {
        let fault = crate::error::Fault::Other("the provider told no address");
        return Err(AuthError::internal(
            "Error getting user email from external provider",
            fault,
        ));
    }
    let visitor = Visitor {
        provider: &flow.provider,
        profile: &profile,
        email_optional: flow.email_optional,
    };
    enter(state, info, flow, &visitor, tokens).await
}

/// What we kept for the visit: our verifier where the provider wants PKCE, the request token of OAuth 1.0a.
async fn take_verifier(
    state: &AuthState,
    flow: &ProviderFlow,
    provider: &Provider,
) -> Result<Option<String>, AuthError> {
    let Some(id) = flow.client_state else {
        if provider.uses_pkce {
            return Err(AuthError::OauthInvalidState("OAuth PKCE code verifier missing"));
        }
        return Ok(None);
    };
    let client = state.client().await?;
    let kept = provider_flows::take_client_state(&client, id).await?;
    let kept = kept.ok_or(AuthError::OauthClientStateNotFound)?;
    if kept.provider != flow.provider {
        return Err(AuthError::OauthInvalidState("OAuth provider mismatch"));
    }
    if state.now() - kept.created_at > FLOW_LIFE {
        return Err(AuthError::OauthClientStateExpired);
    }
    Ok(Some(kept.verifier))
}

/// Apple tells the name once, at the first consent, beside the token.
fn with_posted_name(profile: Profile, provider: &str, posted: &str) -> Profile {
    if provider != "apple" || posted.is_empty() {
        return profile;
    }
    let user: Value = serde_json::from_str(posted).unwrap_or_default();
    let part = |name: &str| user["name"][name].as_str().unwrap_or_default().to_owned();
    let name = format!("{} {}", part("firstName"), part("lastName"));
    profile.with("name", name.trim()).with("full_name", name.trim())
}

/// Lets the visitor in, and uses the state up, in one transaction.
async fn enter(
    state: &AuthState,
    info: &RequestInfo,
    flow: &ProviderFlow,
    visitor: &Visitor<'_>,
    tokens: ProviderTokens,
) -> Result<Outcome, AuthError> {
    let _slot = state.mail_slot().await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let locked = provider_flows::lock_by_id(&db, flow.id).await?;
    let locked = locked.ok_or(AuthError::BadOauthState("OAuth state not found or expired"))?;
    if locked.is_pkce && locked.user_id.is_some() {
        return Err(AuthError::FlowStateAlreadyUsed);
    }
    let admission = match flow.linking_target {
        Some(target) => external_accounts::link(state, &db, info, visitor, target).await?,
        None if !flow.invite_token.is_empty() => {
            external_accounts::accept_invite(state, &db, info, visitor, &flow.invite_token).await?
        }
        None => external_accounts::admit(state, &db, info, visitor).await?,
    };
    let user_id = match admission {
        Admission::Granted(user_id) => user_id,
        Admission::Refused(error) => {
            flow_states::delete(&db, flow.id).await?;
            db.commit().await?;
            return Err(error);
        }
    };
    let outcome = if flow.is_pkce {
        let provider_tokens = (tokens.access_token.as_str(), tokens.refresh_token.as_deref());
        provider_flows::finish(&db, flow.id, user_id, provider_tokens, state.now()).await?;
        Outcome::AuthCode(flow.auth_code.clone())
    } else {
        flow_states::delete(&db, flow.id).await?;
        Outcome::Session {
            tokens: Box::new(start_session(state, &db, info, user_id, "oauth").await?),
            provider: tokens,
        }
    };
    db.commit().await?;
    Ok(outcome)
}

fn session_location(target: &str, tokens: &TokenPair, provider: &ProviderTokens) -> String {
    let (expires_at, expires_in) = (tokens.expires_at.to_string(), tokens.expires_in.to_string());
    let mut pairs = vec![
        ("access_token", tokens.access_token.as_str()),
        ("expires_at", &expires_at),
        ("expires_in", &expires_in),
    ];
    if let Some(token) = &provider.refresh_token {
        pairs.push(("provider_refresh_token", token));
    }
    pairs.extend([
        ("provider_token", provider.access_token.as_str()),
        ("refresh_token", &tokens.refresh_token),
        ("sb", ""),
        ("token_type", "bearer"),
    ]);
    with_fragment(target, &pairs)
}

/// The error keys of a redirect.
struct ErrorPairs(Vec<(&'static str, String)>);

impl ErrorPairs {
    fn borrowed(&self) -> Vec<(&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect()
    }
}

fn pairs(error: &AuthError) -> ErrorPairs {
    if let AuthError::Oauth { error, description } = error {
        return ErrorPairs(vec![
            ("error", error.clone().into_owned()),
            ("error_description", description.clone()),
        ]);
    }
    let (status, code, description) = error.redirect_parts();
    let name = match (code, status) {
        ("signup_disabled" | "user_banned" | "provider_email_needs_verification", _) | (_, 403) => {
            "access_denied"
        }
        (_, 400) => "invalid_request",
        (_, 401) => "unauthorized_client",
        (_, 503) => "temporarily_unavailable",
        _ => "server_error",
    };
    ErrorPairs(vec![
        ("error", name.to_owned()),
        ("error_code", code.to_owned()),
        ("error_description", description.into_owned()),
    ])
}

/// The same keys in the query and in the fragment: clients of both flows find them.
fn error_location(target: &str, error: &AuthError) -> String {
    let pairs = pairs(error);
    let target = with_query(target, &pairs.borrowed());
    let mut in_fragment = pairs.borrowed();
    in_fragment.push(("sb", ""));
    with_fragment(&target, &in_fragment)
}

fn log(error: &AuthError) {
    if let AuthError::Internal { .. } | AuthError::Overloaded = error {
        tracing::error!(%error, "sign-in by a provider failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_042_errors_stand_in_query_and_fragment() {
        let error = AuthError::oauth("access_denied", "The user said no");

        assert_eq!(
            error_location("https://site.example/auth?x=1", &error),
            "https://site.example/auth?x=1&error=access_denied&error_description=The+user+said+no\
             #error=access_denied&error_description=The+user+said+no&sb="
        );
    }

    #[test]
    fn auth_044_a_closed_door_is_access_denied() {
        let location = error_location("https://site.example", &AuthError::SignupDisabled);

        assert!(location.starts_with("https://site.example?error=access_denied&error_code=signup_disabled&"));
    }
}
