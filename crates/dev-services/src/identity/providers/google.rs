//! Google. Source: <https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, IdToken, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "google",
    title: "Google",
    authorize_path: "/o/oauth2/v2/auth",
    token_path: "/token",
    subject: SubjectStyle::Digits(21),
    access_token_prefix: "ya29.",
    token_type: "Bearer",
    expires_in: Some(3599),
    refresh_tokens: RefreshTokens::Offline,
    id_token: Some(IdToken {
        issuer: |url| url.unwrap_or("https://accounts.google.com").to_owned(),
        claims: read_claims,
        // The scopes `email` and `profile` count as OpenID Connect at Google, also without `openid`.
        is_issued: |account| {
            ["openid", "email", "profile"]
                .iter()
                .any(|scope| account.has_scope(scope))
        },
        userinfo_path: Some("/v1/userinfo"),
    }),
    resources: &[
        Resource::new("/v1/userinfo", read_userinfo),
        Resource::new("/userinfo/v2/me", read_older_userinfo),
    ],
    // Google sends no description when the person cancels.
    denial: ("access_denied", ""),
    ..DEFAULT
};

/// `hd` is the domain of a Workspace account. It is sent when the request asked for a domain and the address belongs to it.
fn read_claims(account: &Account<'_>) -> Value {
    let person = account.person;
    let domain = account.param("hd");
    let is_hosted = !domain.is_empty() && person.address().ends_with(&format!("@{domain}"));
    let has_profile = account.has_scope("profile");
    let email = person.email.as_ref().filter(|_| account.has_scope("email"));
    json!({
        "azp": account.client_id,
        "hd": is_hosted.then_some(domain),
        "email": email,
        "email_verified": email.map(|_| person.email_verified),
        "name": has_profile.then_some(&person.name),
        "picture": has_profile.then_some(&account.picture),
        "given_name": has_profile.then(|| person.given_name()),
        "family_name": has_profile.then(|| person.family_name()).filter(|name| !name.is_empty()),
    })
}

fn read_userinfo(account: &Account<'_>) -> Value {
    let person = account.person;
    json!({
        "sub": account.subject, "name": person.name, "given_name": person.given_name(),
        "family_name": person.family_name(), "picture": account.picture,
        "email": person.email, "email_verified": person.email_verified,
    })
}

fn read_older_userinfo(account: &Account<'_>) -> Value {
    let person = account.person;
    json!({
        "id": account.subject, "name": person.name, "given_name": person.given_name(),
        "family_name": person.family_name(), "picture": account.picture,
        "email": person.email, "verified_email": person.email_verified,
    })
}
