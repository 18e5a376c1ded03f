//! LinkedIn's OpenID Connect (`linkedin_oidc`); the profile comes from the ID token.

use serde_json::{Map, Value};

use crate::providers::definition::{
    Definition, Endpoints, IdTokenRules, NamedProvider, ProfileSource, choose_base_url,
};
use crate::providers::issuer::Issuer;
use crate::providers::json_fields::Fields;
use crate::providers::profile::Profile;

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "linkedin_oidc",
    define,
    id_token_rules: |_, _| Some(Ok(build_id_token_rules())),
};

fn build_id_token_rules() -> IdTokenRules {
    IdTokenRules::new(Issuer::new("https://www.linkedin.com/oauth"), read_claims)
}

/// As in GoTrue, the endpoints are fixed paths on the host of LinkedIn's API; only the keys of the issuer are
/// discovered.
fn define(url: Option<&str>) -> Option<Definition> {
    let api = choose_base_url(url, "https://api.linkedin.com");
    let endpoints = Endpoints::Fixed {
        authorize: format!("{api}/oauth/v2/authorization"),
        token: format!("{api}/oauth/v2/accessToken"),
    };
    let source = ProfileSource::IdToken {
        rules: build_id_token_rules(),
        fallback: None,
    };
    Some(Definition::new(
        endpoints,
        source,
        &["openid", "email", "profile"],
    ))
}

/// Reads the claims of the ID token. The full name is composed from its parts.
fn read_claims(claims: &Map<String, Value>) -> Profile {
    let claims = Fields::from(claims);
    Profile::new(claims.text("iss"), claims.text("sub"))
        .with_claim("name", &claims.full_name("given_name", "family_name"))
        .with_claim("given_name", claims.text("given_name"))
        .with_claim("family_name", claims.text("family_name"))
        .with_claim("locale", claims.text("locale"))
        .with_claim("picture", claims.text("picture"))
        .with_email(claims.text("email"), claims.is_true("email_verified"))
}
