//! Keycloak: OpenID Connect on a server of the project. `url` is the URL of the realm; without it there is no
//! definition.

use crate::http_client::Call;
use crate::providers::definition::{Definition, IdTokenRules, NamedProvider};
use crate::providers::id_token::read_standard_claims;
use crate::providers::issuer::Issuer;
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "keycloak",
    define,
    id_token_rules: |url, _| Some(Ok(IdTokenRules::new(Issuer::new(url?), read_standard_claims))),
};

/// Keycloak's endpoints are fixed paths below the realm, so the web flow needs no discovery document.
fn define(url: Option<&str>) -> Option<Definition> {
    let realm = url?;
    let authorize = format!("{realm}/protocol/openid-connect/auth");
    let token = format!("{realm}/protocol/openid-connect/token");
    let api = ProfileApi {
        base: realm.to_owned(),
        build_calls,
        read_profile,
    };
    Some(Definition::with_api(authorize, token, api, &["profile", "email"]))
}

fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("/protocol/openid-connect/userinfo")]
}

/// Reads the claims of the userinfo endpoint. The realm's client scopes decide which claims exist, so each may be
/// missing; claims other than those named here are stored below `custom_claims`.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    let profile = Profile::new(api.base, user.text("sub"))
        .with_full_name(user.text("name"))
        .with_email(user.text("email"), user.is_true("email_verified"));
    user.iter()
        .filter(|(name, _)| !["name", "sub", "email", "email_verified"].contains(&name.as_str()))
        .fold(profile, |profile, (name, value)| {
            profile.with_custom_claim(name, value.clone())
        })
}
