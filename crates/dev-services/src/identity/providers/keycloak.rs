//! Keycloak, a realm with its default client scopes. Source:
//! <https://www.keycloak.org/docs/latest/server_admin/#_client_scopes>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, IdToken, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "keycloak",
    title: "Keycloak",
    authorize_path: "/protocol/openid-connect/auth",
    token_path: "/protocol/openid-connect/token",
    subject: SubjectStyle::Uuid,
    token_type: "Bearer",
    expires_in: Some(300),
    refresh_tokens: RefreshTokens::Always,
    id_token: Some(IdToken {
        issuer: |url| url.unwrap_or_default().trim_end_matches('/').to_owned(),
        claims: read_claims,
        is_issued: |account| account.has_scope("openid"),
        userinfo_path: Some("/protocol/openid-connect/userinfo"),
    }),
    resources: &[Resource::new("/protocol/openid-connect/userinfo", |account| {
        let mut claims = read_claims(account);
        claims["sub"] = json!(account.subject);
        claims
    })],
    ..DEFAULT
};

fn read_claims(account: &Account<'_>) -> Value {
    let person = account.person;
    // A claim without a value is left out by Keycloak, not sent as null.
    let mut claims = json!({
        "email_verified": person.email_verified, "name": person.name, "preferred_username": person.user_name(),
        "given_name": person.given_name(), "family_name": person.family_name(),
    });
    if let Some(email) = &person.email {
        claims["email"] = json!(email);
    }
    claims
}
