//! X (OAuth 2.0). Source: <https://docs.x.com/x-api/users/get-my-user>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "x",
    title: "X",
    authorize_path: "/i/oauth2/authorize",
    token_path: "/2/oauth2/token",
    subject: SubjectStyle::Digits(19),
    expires_in: Some(7200),
    refresh_tokens: RefreshTokens::WithScope("offline.access"),
    resources: &[Resource::new("/2/users/me", read_user)],
    denial: ("access_denied", ""),
    // X refuses authorization requests without a challenge.
    requires_pkce: true,
    ..DEFAULT
};

/// `confirmed_email` needs the scope `users.email` and a confirmed address.
fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    let mut data = json!({
        "id": account.subject, "name": person.name, "username": person.user_name(),
        "profile_image_url": account.picture, "url": "", "created_at": "2026-01-01T00:00:00.000Z",
    });
    if person.email_verified && person.email.is_some() && account.has_scope("users.email") {
        data["confirmed_email"] = json!(person.email);
    }
    json!({ "data": data })
}
