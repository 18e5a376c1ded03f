//! LinkedIn by OpenID Connect. Source:
//! <https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, IdToken, Provider};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "linkedin_oidc",
    title: "LinkedIn",
    authorize_path: "/oauth/v2/authorization",
    token_path: "/oauth/v2/accessToken",
    subject: SubjectStyle::Mixed(10),
    access_token_prefix: "AQ",
    token_type: "Bearer",
    expires_in: Some(5_184_000),
    id_token: Some(IdToken {
        issuer: |_| "https://www.linkedin.com/oauth".to_owned(),
        claims: read_claims,
        is_issued: |account| account.has_scope("openid"),
        userinfo_path: None,
    }),
    denial: ("user_cancelled_authorize", "The user cancelled the authorization"),
    ..DEFAULT
};

/// LinkedIn sends `email_verified` as a string in ID tokens.
fn read_claims(account: &Account<'_>) -> Value {
    let person = account.person;
    json!({
        "name": person.name, "given_name": person.given_name(), "family_name": person.family_name(),
        "picture": account.picture, "locale": "en_US", "email": person.email,
        "email_verified": person.email.as_ref().map(|_| person.email_verified.to_string()),
    })
}
