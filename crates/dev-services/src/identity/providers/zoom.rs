//! Zoom. Source: <https://developers.zoom.us/docs/api/users/#tag/users/get/users/{userId}>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "zoom",
    title: "Zoom",
    subject: SubjectStyle::Mixed(22),
    expires_in: Some(3599),
    refresh_tokens: RefreshTokens::Always,
    resources: &[Resource::new("/v2/users/me", read_user)],
    ..DEFAULT
};

/// `login_type` 100 is an account with a Zoom password, the only kind for which `verified` is meaningful.
fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    json!({
        "id": account.subject, "first_name": person.given_name(), "last_name": person.family_name(),
        "display_name": person.name, "email": person.email, "type": 1, "login_type": 100,
        "login_types": [100], "verified": u8::from(person.email_verified), "status": "active",
        "pic_url": account.picture, "language": "en-US",
    })
}
