//! Sign in with Apple. Source:
//! <https://developer.apple.com/documentation/signinwithapple/authenticating-users-with-sign-in-with-apple>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, IdToken, Provider, RefreshTokens};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "apple",
    title: "Apple",
    authorize_path: "/auth/authorize",
    token_path: "/auth/token",
    subject: SubjectStyle::Apple,
    token_type: "Bearer",
    expires_in: Some(3600),
    refresh_tokens: RefreshTokens::Always,
    id_token: Some(IdToken {
        issuer: |url| url.unwrap_or("https://appleid.apple.com").to_owned(),
        // The name is never among the claims: Apple posts it to the callback, at the first sign-in only.
        claims: read_claims,
        is_issued: |_| true,
        userinfo_path: None,
    }),
    denial: ("user_cancelled_authorize", ""),
    ..DEFAULT
};

/// Apple sends `is_private_email` only for addresses of its relay domain.
fn read_claims(account: &Account<'_>) -> Value {
    let person = account.person;
    let is_relayed = person.address().ends_with("@privaterelay.appleid.com");
    json!({
        "email": person.email,
        "email_verified": person.email.as_ref().map(|_| person.email_verified),
        "is_private_email": is_relayed.then_some(true),
        "auth_time": account.issued_at,
        "nonce_supported": true,
    })
}
