//! Twitch. Source: <https://dev.twitch.tv/docs/api/reference/#get-users>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "twitch",
    title: "Twitch",
    authorize_path: "/oauth2/authorize",
    token_path: "/oauth2/token",
    subject: SubjectStyle::Digits(9),
    expires_in: Some(14_124),
    refresh_tokens: RefreshTokens::Always,
    // Twitch returns the scopes as a list.
    token_extras: |account| {
        let scopes: Vec<&str> = account.param("scope").split_whitespace().collect();
        json!({"scope": scopes})
    },
    // Calls need the client id in a header, besides the access token.
    resources: &[Resource {
        required_header: Some(("client-id", None)),
        ..Resource::new("/helix/users", read_users)
    }],
    denial: ("access_denied", "The user denied you access"),
    ..DEFAULT
};

/// Twitch leaves out an address that is not verified.
fn read_users(account: &Account<'_>) -> Value {
    let person = account.person;
    let mut user = json!({
        "id": account.subject, "login": person.user_name(), "display_name": person.name, "type": "",
        "broadcaster_type": "", "description": "", "profile_image_url": account.picture,
        "offline_image_url": "", "view_count": 0, "created_at": "2026-01-01T00:00:00Z",
    });
    if person.email_verified && person.email.is_some() {
        user["email"] = json!(person.email);
    }
    json!({"data": [user]})
}
