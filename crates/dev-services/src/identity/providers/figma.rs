//! Figma. Source: <https://developers.figma.com/docs/rest-api/users-endpoints/>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "figma",
    title: "Figma",
    authorize_path: "/oauth",
    token_path: "/v1/oauth/token",
    subject: SubjectStyle::Digits(19),
    access_token_prefix: "figu_",
    expires_in: Some(7_776_000),
    refresh_tokens: RefreshTokens::Always,
    // Figma returns the id as a string here, because as a number it is too large for JavaScript.
    token_extras: |account| json!({"user_id_string": account.subject}),
    resources: &[Resource::new("/v1/me", read_user)],
    ..DEFAULT
};

fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    json!({"id": account.subject, "handle": person.name, "img_url": account.picture, "email": person.email})
}
