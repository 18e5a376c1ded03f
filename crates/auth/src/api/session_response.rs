//! The response of every successful sign-in: the session as JSON, with headers for proxies and logs. Source: Auth
//! contract §2.0, §4.3.

use actix_web::HttpResponse;
use serde::Serialize;

use crate::crypto::counter_token::CounterToken;
use crate::error::WeakPassword;
use crate::flows::sign_in::{TokenPair, TokenReuse};
use crate::user::UserBody;

/// The response of every successful sign-in: what `supabase-js` stores as its session.
#[derive(Debug, Serialize)]
struct SessionBody<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: i64,
    expires_at: i64,
    refresh_token: &'a str,
    user: UserBody<'a>,
    #[serde(flatten)]
    extra: SessionExtra,
}

/// Members that only some grants add to a session.
#[derive(Debug, Default, Serialize)]
pub(crate) struct SessionExtra {
    /// Password grant: null for a password that meets the rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weak_password: Option<Option<WeakPassword>>,
    /// PKCE grant after a sign-in by a provider: that provider's own tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider_refresh_token: Option<String>,
}

/// Returns 200 with the session.
pub(crate) fn respond_with_session(tokens: &TokenPair) -> HttpResponse {
    respond_with_extended_session(tokens, SessionExtra::default())
}

/// 200 with the session and the members that the grant adds to it.
pub(crate) fn respond_with_extended_session(tokens: &TokenPair, extra: SessionExtra) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response
        // RFC 6749 §5.1 requires it for responses that hold tokens.
        .insert_header(("Cache-Control", "no-store"))
        .insert_header(("sb-auth-user-id", tokens.user.id.to_string()))
        .insert_header(("sb-auth-session-id", tokens.session_id.to_string()))
        .insert_header(refresh_token_header(tokens));
    match &tokens.reuse {
        None | Some(TokenReuse::Reused(None)) => {}
        Some(TokenReuse::New) => {
            response.insert_header(("sb-auth-refresh-token-reuse", "false"));
        }
        Some(TokenReuse::Reused(Some(causes))) => {
            response.insert_header(("sb-auth-refresh-token-reuse-cause", causes.as_str()));
        }
    }
    response.json(SessionBody {
        access_token: &tokens.access_token,
        token_type: "bearer",
        expires_in: tokens.expires_in,
        expires_at: tokens.expires_at,
        refresh_token: &tokens.refresh_token,
        user: tokens.user.body(),
        extra,
    })
}

/// A header that identifies the refresh token in the logs of a proxy without revealing it: its counter, or its
/// first five characters (25 of 60 random bits).
fn refresh_token_header(tokens: &TokenPair) -> (&'static str, String) {
    match CounterToken::parse(&tokens.refresh_token) {
        Some(token) => ("sb-auth-refresh-token-counter", token.counter.to_string()),
        None => (
            "sb-auth-refresh-token-prefix",
            tokens.refresh_token.chars().take(5).collect(),
        ),
    }
}
