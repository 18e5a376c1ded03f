//! Slack, by its older sign-in and by OpenID Connect. Source:
//! <https://docs.slack.dev/reference/methods/openid.connect.userInfo/>,
//! <https://docs.slack.dev/authentication/sign-in-with-slack/>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, IdToken, Provider, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static SLACK: Provider = Provider {
    name: "slack",
    title: "Slack",
    // The older sign-in has another authorization endpoint, but the same profile as OpenID Connect.
    token_path: "/api/oauth.access",
    subject: SubjectStyle::Prefixed("U0", 9),
    access_token_prefix: "xoxp-",
    token_extras: |_| json!({"ok": true}),
    resources: &[Resource::new("/api/openid.connect.userInfo", read_userinfo)],
    denial: ("access_denied", ""),
    ..DEFAULT
};

pub(super) static SLACK_OIDC: Provider = Provider {
    name: "slack_oidc",
    authorize_path: "/openid/connect/authorize",
    token_path: "/api/openid.connect.token",
    id_token: Some(IdToken {
        issuer: |_| "https://slack.com".to_owned(),
        claims: read_claims,
        is_issued: |account| account.has_scope("openid"),
        userinfo_path: Some("/api/openid.connect.userInfo"),
    }),
    title: "Slack",
    subject: SubjectStyle::Prefixed("U0", 9),
    access_token_prefix: "xoxp-",
    token_type: "Bearer",
    token_extras: |_| json!({"ok": true}),
    resources: &[Resource::new("/api/openid.connect.userInfo", read_userinfo)],
    denial: ("access_denied", ""),
    ..DEFAULT
};

fn read_userinfo(account: &Account<'_>) -> Value {
    let mut claims = read_claims(account);
    claims["ok"] = json!(true);
    claims["sub"] = json!(account.subject);
    claims
}

/// All people belong to one fictional workspace.
fn read_claims(account: &Account<'_>) -> Value {
    let person = account.person;
    let mut claims = json!({
        "https://slack.com/user_id": account.subject,
        "https://slack.com/team_id": SubjectStyle::Prefixed("T0", 9).make_id("slack-team", ""),
        "https://slack.com/team_name": "Development", "https://slack.com/team_domain": "development",
        "name": person.name, "given_name": person.given_name(), "family_name": person.family_name(),
        "picture": account.picture, "locale": "en-US", "email_verified": person.email_verified,
    });
    if let Some(email) = &person.email {
        claims["email"] = json!(email);
    }
    claims
}
