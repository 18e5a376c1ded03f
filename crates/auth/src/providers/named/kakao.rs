//! Kakao: OAuth 2.0 in the web flow; ID tokens come from its SDKs.

use serde_json::{Map, Value};

use crate::http_client::Call;
use crate::providers::definition::{Definition, IdTokenRules, NamedProvider, choose_base_url};
use crate::providers::issuer::Issuer;
use crate::providers::json_fields::Fields;
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "kakao",
    define,
    id_token_rules: |_, _| {
        let issuer = Issuer::new("https://kauth.kakao.com");
        Some(Ok(IdTokenRules::new(issuer, read_claims)))
    },
};

fn define(url: Option<&str>) -> Option<Definition> {
    let auth = choose_base_url(url, "https://kauth.kakao.com");
    let authorize = format!("{auth}/oauth/authorize");
    let token = format!("{auth}/oauth/token");
    let api = ProfileApi {
        base: choose_base_url(url, "https://kapi.kakao.com"),
        build_calls,
        read_profile,
    };
    let scopes = ["account_email", "profile_image", "profile_nickname"];
    Some(Definition {
        // Kakao reads the client's credentials from the form only.
        secret_in_form: true,
        ..Definition::with_api(authorize, token, api, &scopes)
    })
}

fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("/v2/user/me")]
}

/// Reads `{id, kakao_account: {email, is_email_verified, is_email_valid, profile: {nickname, profile_image_url}}}`.
///
/// An address counts as verified only while it is still valid: Kakao invalidates it when another account takes it over.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    let account = user.object("kakao_account");
    let name = account.object("profile").text("nickname");
    let is_verified = account.is_true("is_email_verified") && account.is_true("is_email_valid");
    Profile::new(api.base, user.id("id"))
        .with_full_name(name)
        .with_claim("preferred_username", name)
        .with_claim("user_name", name)
        .with_claim("avatar_url", account.object("profile").text("profile_image_url"))
        .with_email(account.text("email"), is_verified)
}

/// Reads the claims of an ID token, which does not say whether the address is verified, as the web flow does.
fn read_claims(claims: &Map<String, Value>) -> Profile {
    let claims = Fields::from(claims);
    Profile::new(claims.text("iss"), claims.text("sub"))
        .with_claim("name", claims.text("nickname"))
        .with_claim("preferred_username", claims.text("nickname"))
        .with_claim("picture", claims.text("picture"))
        .with_email(claims.text("email"), false)
}
