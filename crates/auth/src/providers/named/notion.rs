//! Notion: OAuth 2.0. The access token belongs to the bot of an integration; the owner of that bot is the user.

use hyper::header::HeaderName;

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "notion",
    define,
    id_token_rules: NO_ID_TOKENS,
};

fn define(url: Option<&str>) -> Option<Definition> {
    let base = choose_base_url(url, "https://api.notion.com");
    let authorize = format!("{base}/v1/oauth/authorize");
    let token = format!("{base}/v1/oauth/token");
    let api = ProfileApi {
        base,
        build_calls,
        read_profile,
    };
    Some(Definition {
        // Notion has no scopes: what an integration may read is configured at Notion.
        accepts_scopes: false,
        ..Definition::with_api(authorize, token, api, &[])
    })
}

fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    // Notion rejects calls that do not name a version of its API; the response of this version is read below.
    vec![
        api.get("/v1/users/me")
            .header(HeaderName::from_static("notion-version"), "2021-08-16"),
    ]
}

/// Reads `{bot: {owner: {user: {id, name, avatar_url, person: {email}}}}}`. The API does not say whether the address is
/// verified.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0).object("bot").object("owner").object("user");
    Profile::new(api.base, user.text("id"))
        .with_full_name(user.text("name"))
        .with_picture(user.text("avatar_url"))
        .with_email(user.object("person").text("email"), false)
}
