//! GitLab. Source: <https://docs.gitlab.com/api/users/#get-the-current-user>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "gitlab",
    title: "GitLab",
    subject: SubjectStyle::Number(8),
    expires_in: Some(7200),
    refresh_tokens: RefreshTokens::Always,
    resources: &[
        Resource::new("/api/v4/user", read_user),
        // Only addresses besides the primary one are listed here, and invented people have none.
        Resource::new("/api/v4/user/emails", |_| json!([])),
    ],
    denial: (
        "access_denied",
        "The resource owner or authorization server denied the request.",
    ),
    ..DEFAULT
};

/// `confirmed_at` is null until the address is confirmed. Further addresses are read from another path.
fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    let username = person.user_name();
    json!({
        "id": account.numeric_subject(), "username": username, "name": person.name, "state": "active",
        "avatar_url": account.picture, "web_url": format!("https://gitlab.com/{username}"),
        "email": person.email,
        "confirmed_at": person.email_verified.then_some("2026-01-01T00:00:00.000Z"),
    })
}
