//! Zoom: OAuth 2.0. The scopes are configured in Zoom's registration of the app, so none are requested.

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

/// `login_type` of an account that signs in with a Zoom password.
const LOGIN_BY_PASSWORD: &str = "100";

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "zoom",
    define,
    id_token_rules: NO_ID_TOKENS,
};

fn define(url: Option<&str>) -> Option<Definition> {
    let auth = format!("{}/oauth", choose_base_url(url, "https://zoom.us"));
    let authorize = format!("{auth}/authorize");
    let token = format!("{auth}/token");
    let api = ProfileApi {
        base: format!("{}/v2", choose_base_url(url, "https://api.zoom.us")),
        build_calls,
        read_profile,
    };
    Some(Definition {
        accepts_scopes: false,
        ..Definition::with_api(authorize, token, api, &[])
    })
}

fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("/users/me")]
}

/// Reads `{id, first_name, last_name, pic_url, email, login_type, verified}`; `verified` is 0 or 1.
///
/// `verified` is meaningful only for accounts with a Zoom password. All others sign in with another provider, which has
/// verified their address.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    let has_password = user.id("login_type") == LOGIN_BY_PASSWORD;
    let is_verified = !has_password || user.number("verified").is_some_and(|flag| flag != 0);
    Profile::new(api.base, user.text("id"))
        .with_full_name(&user.full_name("first_name", "last_name"))
        .with_picture(user.text("pic_url"))
        .with_email(user.text("email"), is_verified)
}
