//! Facebook: OAuth 2.0 in the web flow; ID tokens come from its SDK for iOS (Limited Login).

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value};
use sha2::Sha256;

use crate::http_client::Call;
use crate::providers::definition::{Definition, IdTokenRules, NamedProvider, choose_base_url};
use crate::providers::issuer::Issuer;
use crate::providers::json_fields::Fields;
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

/// The query that selects the profile's fields. Compat: it is also part of the `iss` that GoTrue stores.
const PROFILE_FIELDS: &str = "fields=email,first_name,last_name,name,picture";

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "facebook",
    define,
    id_token_rules: |_, _| {
        let issuer = Issuer::new("https://www.facebook.com");
        Some(Ok(IdTokenRules {
            has_nonce: false,
            ..IdTokenRules::new(issuer, read_claims)
        }))
    },
};

fn define(url: Option<&str>) -> Option<Definition> {
    let base = choose_base_url(url, "https://graph.facebook.com");
    let authorize = format!(
        "{}/dialog/oauth",
        choose_base_url(url, "https://www.facebook.com")
    );
    let token = format!("{base}/oauth/access_token");
    let api = ProfileApi {
        base,
        build_calls,
        read_profile,
    };
    Some(Definition::with_api(authorize, token, api, &["email"]))
}

/// The API returns only the listed fields, and requires `appsecret_proof` if the app is configured so.
fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    let proof = compute_app_secret_proof(api.client.expose_secret(), &api.tokens.access_token);
    vec![api.get(&format!("/me?{PROFILE_FIELDS}&appsecret_proof={proof}"))]
}

/// Facebook's `appsecret_proof`, which shows that a call comes from the app's server: HMAC-SHA256 of the access token
/// with the app secret as the key, in hexadecimal.
fn compute_app_secret_proof(secret: &str, token: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(token.as_bytes());
    hex::encode(mac.finalize().into_bytes())
}

/// Reads `{id, name, first_name, last_name, email, picture: {data: {url}}}`.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    Profile::new(&format!("{}/me?{PROFILE_FIELDS}", api.base), user.text("id"))
        .with_full_name(&user.full_name("first_name", "last_name"))
        .with_claim("nickname", user.text("name"))
        .with_claim("slug", user.text("name"))
        .with_picture(user.object("picture").object("data").text("url"))
        // Facebook returns only verified addresses.
        .with_email(user.text("email"), true)
}

/// Reads the claims of a Limited Login token, which have no `email_verified`; Facebook returns only verified addresses.
fn read_claims(claims: &Map<String, Value>) -> Profile {
    let claims = Fields::from(claims);
    Profile::new(claims.text("iss"), claims.text("sub"))
        .with_claim("name", claims.text("name"))
        .with_claim("picture", claims.text("picture"))
        .with_email(claims.text("email"), true)
}
