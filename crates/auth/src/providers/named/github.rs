//! GitHub: OAuth 2.0. `url` is a GitHub Enterprise server, whose API is below `/api/v3`.

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::profile::{Profile, read_emails};
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "github",
    define,
    id_token_rules: NO_ID_TOKENS,
};

/// GitHub Enterprise serves sign-in page and API on one host, github.com on two.
fn define(url: Option<&str>) -> Option<Definition> {
    let auth = choose_base_url(url, "https://github.com");
    let base = url.map_or_else(
        || "https://api.github.com".to_owned(),
        |url| format!("{url}/api/v3"),
    );
    let authorize = format!("{auth}/login/oauth/authorize");
    let token = format!("{auth}/login/oauth/access_token");
    let api = ProfileApi {
        base,
        build_calls,
        read_profile,
    };
    Some(Definition::with_api(authorize, token, api, &["user:email"]))
}

/// The address in `/user` is the one that the user shows publicly, and it may be unverified; so the addresses come from
/// `/user/emails`.
fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("/user"), api.get("/user/emails")]
}

/// Reads `{id, login, name, avatar_url}` and `[{email, verified, primary}]`. `id` is a number.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    let login = user.text("login");
    Profile::new(api.base, user.id("id"))
        .with_full_name(user.text("name"))
        .with_claim("avatar_url", user.text("avatar_url"))
        .with_claim("preferred_username", login)
        .with_claim("user_name", login)
        .with_emails(read_emails(responses.list(1), "verified", "primary"))
}
