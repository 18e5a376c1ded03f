//! X (formerly Twitter): OAuth 2.0 with PKCE, which X requires.

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "x",
    define,
    id_token_rules: NO_ID_TOKENS,
};

fn define(url: Option<&str>) -> Option<Definition> {
    let base = choose_base_url(url, "https://api.x.com");
    let authorize = format!("{}/i/oauth2/authorize", choose_base_url(url, "https://x.com"));
    let token = format!("{base}/2/oauth2/token");
    let api = ProfileApi {
        base,
        build_calls,
        read_profile,
    };
    // `users/me` needs `tweet.read` and `users.read`, and `users.email` for the address; `offline.access` makes X issue
    // a refresh token.
    let scopes = ["users.email", "tweet.read", "users.read", "offline.access"];
    Some(Definition {
        uses_pkce: true,
        ..Definition::with_api(authorize, token, api, &scopes)
    })
}

/// The API returns only `id`, `name` and `username` unless `user.fields` lists more.
fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    let fields = "id,name,username,confirmed_email,profile_image_url,url,created_at";
    vec![api.get(&format!("/2/users/me?user.fields={fields}"))]
}

/// Reads `{data: {id, name, username, confirmed_email, profile_image_url, url, created_at}}`. `confirmed_email` is the
/// address that the user has confirmed to X.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0).object("data");
    let username = user.text("username");
    Profile::new(api.base, user.text("id"))
        .with_full_name(user.text("name"))
        .with_claim("preferred_username", username)
        .with_claim("user_name", username)
        .with_claim("profile", &format!("https://x.com/{username}"))
        .with_claim("website", user.text("url"))
        .with_picture(user.text("profile_image_url"))
        .with_custom_claims(user, &["created_at"])
        .with_email(user.text("confirmed_email"), true)
}
