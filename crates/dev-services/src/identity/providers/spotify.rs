//! Spotify. Source: <https://developer.spotify.com/documentation/web-api/reference/get-current-users-profile>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "spotify",
    title: "Spotify",
    authorize_path: "/authorize",
    token_path: "/api/token",
    subject: SubjectStyle::Lower(25),
    access_token_prefix: "BQ",
    token_type: "Bearer",
    expires_in: Some(3600),
    refresh_tokens: RefreshTokens::Always,
    resources: &[Resource::new("/v1/me", read_user)],
    denial: ("access_denied", ""),
    ..DEFAULT
};

fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    let id = account.subject;
    json!({
        "id": id, "display_name": person.name, "email": person.email, "type": "user",
        "uri": format!("spotify:user:{id}"), "href": format!("https://api.spotify.com/v1/users/{id}"),
        "external_urls": {"spotify": format!("https://open.spotify.com/user/{id}")},
        "followers": {"href": null, "total": 0},
        // Spotify lists pictures in several sizes; applications choose one by its area.
        "images": [
            {"url": account.picture, "height": 64, "width": 64},
            {"url": account.picture, "height": 300, "width": 300},
        ],
    })
}
