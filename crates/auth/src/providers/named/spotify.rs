//! Spotify: OAuth 2.0. One API call returns the profile, with pictures in several sizes.

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::json_fields::Fields;
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "spotify",
    define,
    id_token_rules: NO_ID_TOKENS,
};

/// Sign-in page and API are on different hosts; a configured `url` replaces both.
fn define(url: Option<&str>) -> Option<Definition> {
    let auth = choose_base_url(url, "https://accounts.spotify.com");
    let authorize = format!("{auth}/authorize");
    let token = format!("{auth}/api/token");
    let api = ProfileApi {
        base: choose_base_url(url, "https://api.spotify.com/v1"),
        build_calls,
        read_profile,
    };
    Some(Definition::with_api(authorize, token, api, &["user-read-email"]))
}

fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("/me")]
}

/// Reads `{id, display_name, email, images: [{url, height, width}]}` and takes the largest picture.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    // Spotify may send null for the size of a picture, which then counts as the smallest.
    let area = |image: &Fields<'_>| image.number("height").unwrap_or(0) * image.number("width").unwrap_or(0);
    let largest = user.list("images").max_by_key(area);
    Profile::new(api.base, user.text("id"))
        .with_full_name(user.text("display_name"))
        .with_picture(largest.map_or("", |image| image.text("url")))
        // Spotify's API does not say whether the address was verified, and its documentation warns that it may not be.
        .with_email(user.text("email"), false)
}
