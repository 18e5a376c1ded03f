//! Slack, as two providers: `slack` is its older sign-in, `slack_oidc` its OpenID Connect. Both read the same userinfo
//! endpoint.

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

pub(super) const SLACK: NamedProvider = NamedProvider {
    name: "slack",
    define: define_slack,
    id_token_rules: NO_ID_TOKENS,
};

pub(super) const SLACK_OIDC: NamedProvider = NamedProvider {
    name: "slack_oidc",
    define: define_slack_oidc,
    id_token_rules: NO_ID_TOKENS,
};

/// Scopes of both providers; the userinfo endpoint requires `openid`.
const SCOPES: [&str; 3] = ["profile", "email", "openid"];

/// The older sign-in: authorization and token endpoints of OAuth 2.0.
fn define_slack(url: Option<&str>) -> Option<Definition> {
    let base = choose_base_url(url, "https://slack.com");
    let api = ProfileApi {
        base: format!("{base}/api"),
        build_calls,
        read_profile,
    };
    let authorize = format!("{base}/oauth/authorize");
    let token = format!("{base}/api/oauth.access");
    Some(Definition::with_api(authorize, token, api, &SCOPES))
}

/// OpenID Connect. The profile comes from the userinfo endpoint, so the ID token is not read.
fn define_slack_oidc(url: Option<&str>) -> Option<Definition> {
    let base = choose_base_url(url, "https://slack.com");
    let api = ProfileApi {
        base: format!("{base}/api"),
        build_calls,
        read_profile,
    };
    let authorize = format!("{base}/openid/connect/authorize");
    let token = format!("{base}/api/openid.connect.token");
    Some(Definition::with_api(authorize, token, api, &SCOPES))
}

fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("/openid.connect.userInfo")]
}

/// Reads the claims of the userinfo endpoint. The user's id is the claim `https://slack.com/user_id`.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    Profile::new(api.base, user.text("https://slack.com/user_id"))
        .with_full_name(user.text("name"))
        .with_picture(user.text("picture"))
        .with_custom_claims(user, &["https://slack.com/team_id"])
        .with_email(user.text("email"), user.is_true("email_verified"))
}
