//! Twitch: OAuth 2.0. One API call returns the profile.

use hyper::header::HeaderName;

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "twitch",
    define,
    id_token_rules: NO_ID_TOKENS,
};

/// Members of the response that no other provider has; stored below `custom_claims`.
const CUSTOM_CLAIMS: [&str; 5] = [
    "broadcaster_type",
    "description",
    "type",
    "offline_image_url",
    "view_count",
];

fn define(url: Option<&str>) -> Option<Definition> {
    let auth = choose_base_url(url, "https://id.twitch.tv");
    let authorize = format!("{auth}/oauth2/authorize");
    let token = format!("{auth}/oauth2/token");
    let api = ProfileApi {
        base: choose_base_url(url, "https://api.twitch.tv"),
        build_calls,
        read_profile,
    };
    Some(Definition::with_api(authorize, token, api, &["user:read:email"]))
}

/// Twitch's API requires the client id in a header, in addition to the access token.
fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![
        api.get("/helix/users")
            .header(HeaderName::from_static("client-id"), api.client.client_id()),
    ]
}

/// Reads `{data: [{id, login, display_name, profile_image_url, email, …}]}`.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0).first("data");
    Profile::new(api.base, user.text("id"))
        .with_full_name(user.text("login"))
        .with_claim("nickname", user.text("display_name"))
        .with_claim("slug", user.text("display_name"))
        .with_picture(user.text("profile_image_url"))
        // Twitch returns only verified addresses.
        .with_email(user.text("email"), true)
        .with_custom_claims(user, &CUSTOM_CLAIMS)
}
