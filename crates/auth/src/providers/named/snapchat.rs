//! Snapchat: OAuth 2.0 with a GraphQL query in the web flow; ID tokens come from its SDKs.

use serde_json::{Map, Value};

use crate::http_client::Call;
use crate::providers::definition::{Definition, IdTokenRules, NamedProvider, choose_base_url};
use crate::providers::id_token::read_profile_claims;
use crate::providers::issuer::Issuer;
use crate::providers::json_fields::Fields;
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

/// `iss` of its ID tokens, and of identities of the web flow.
const ISSUER: &str = "https://accounts.snapchat.com/accounts/oauth2/token";

/// `{me { externalId displayName bitmoji { avatar id } email } }`, percent-encoded for the query of the URL.
const QUERY: &str =
    "%7Bme%20%7B%20externalId%20displayName%20bitmoji%20%7B%20avatar%20id%20%7D%20email%20%7D%20%7D";

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "snapchat",
    define,
    id_token_rules: |_, _| Some(Ok(IdTokenRules::new(Issuer::new(ISSUER), read_claims))),
};

fn define(url: Option<&str>) -> Option<Definition> {
    let auth = choose_base_url(url, "https://accounts.snapchat.com");
    let authorize = format!("{auth}/accounts/oauth2/auth");
    let token = format!("{auth}/accounts/oauth2/token");
    let api = ProfileApi {
        base: choose_base_url(url, "https://kit.snapchat.com"),
        build_calls,
        read_profile,
    };
    let scopes = [
        "https://auth.snapchat.com/oauth2/api/user.external_id",
        "https://auth.snapchat.com/oauth2/api/user.display_name",
        "https://auth.snapchat.com/oauth2/api/user.bitmoji.avatar",
    ];
    Some(Definition::with_api(authorize, token, api, &scopes))
}

fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get(&format!("/v1/me?query={QUERY}"))]
}

/// Reads `{data: {me: {externalId, displayName, bitmoji: {avatar}, email}}}`. The API does not say whether the address
/// is verified.
fn read_profile(_: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0).object("data").object("me");
    Profile::new(ISSUER, user.text("externalId"))
        .with_full_name(user.text("displayName"))
        .with_claim("slug", user.text("displayName"))
        .with_picture(user.object("bitmoji").text("avatar"))
        .with_email(user.text("email"), false)
}

/// Reads the standard claims of an ID token.
fn read_claims(claims: &Map<String, Value>) -> Profile {
    let fields = Fields::from(claims);
    read_profile_claims(claims).with_email(fields.text("email"), fields.is_true("email_verified"))
}
