//! Fly.io: OAuth 2.0. The profile comes from the description of the access token.

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "fly",
    define,
    id_token_rules: NO_ID_TOKENS,
};

/// Members of the response that no other provider has; stored below `custom_claims`.
const CUSTOM_CLAIMS: [&str; 5] = [
    "resource_owner_id",
    "organizations",
    "application",
    "scope",
    "created_at",
];

fn define(url: Option<&str>) -> Option<Definition> {
    let base = choose_base_url(url, "https://api.fly.io");
    let authorize = format!("{base}/oauth/authorize");
    let token = format!("{base}/oauth/token");
    let api = ProfileApi {
        base,
        build_calls,
        read_profile,
    };
    Some(Definition::with_api(authorize, token, api, &["read"]))
}

fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("/oauth/token/info")]
}

/// Reads `{user_id, user_name, email, …}`. The API does not say whether the address is verified.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    Profile::new(api.base, user.text("user_id"))
        .with_claim("full_name", user.text("user_name"))
        .with_email(user.text("email"), false)
        .with_custom_claims(user, &CUSTOM_CLAIMS)
}
