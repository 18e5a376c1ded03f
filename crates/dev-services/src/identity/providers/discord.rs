//! Discord. Source: <https://discord.com/developers/docs/resources/user#user-object>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "discord",
    title: "Discord",
    authorize_path: "/oauth2/authorize",
    token_path: "/oauth2/token",
    subject: SubjectStyle::Digits(18),
    token_type: "Bearer",
    expires_in: Some(604_800),
    refresh_tokens: RefreshTokens::Always,
    resources: &[Resource::new("/users/@me", read_user)],
    denial: (
        "access_denied",
        "The resource owner or authorization server denied the request",
    ),
    ..DEFAULT
};

/// `avatar` is the hash of an uploaded picture. Invented people have none, and clients draw a default one then.
fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    json!({
        "id": account.subject, "username": person.user_name(), "discriminator": "0", "global_name": person.name,
        // Newer accounts have a unique user name, and a discriminator of "0".
        "avatar": null, "banner": null, "accent_color": null, "locale": "en-US", "mfa_enabled": false,
        "flags": 0, "public_flags": 0, "premium_type": 0, "email": person.email,
        "verified": person.email_verified,
    })
}
