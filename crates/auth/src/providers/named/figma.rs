//! Figma: OAuth 2.0. One API call returns the profile.

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "figma",
    define,
    id_token_rules: NO_ID_TOKENS,
};

/// Figma has the sign-in page on `www.figma.com`, token endpoint and API on `api.figma.com`; a configured `url`
/// replaces both.
fn define(url: Option<&str>) -> Option<Definition> {
    let base = choose_base_url(url, "https://api.figma.com");
    let authorize = format!("{}/oauth", choose_base_url(url, "https://www.figma.com"));
    let token = format!("{base}/v1/oauth/token");
    let api = ProfileApi {
        base,
        build_calls,
        read_profile,
    };
    Some(Definition::with_api(
        authorize,
        token,
        api,
        &["current_user:read"],
    ))
}

fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("/v1/me")]
}

/// Reads `{id, handle, img_url, email}`. The API does not say whether the address is verified.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    Profile::new(api.base, user.text("id"))
        .with_full_name(user.text("handle"))
        .with_claim("avatar_url", user.text("img_url"))
        .with_email(user.text("email"), false)
}
