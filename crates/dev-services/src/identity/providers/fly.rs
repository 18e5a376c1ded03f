//! Fly.io. Source: <https://fly.io/docs/about/extensions/> (single sign-on of extensions).

use chrono::Utc;
use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, RefreshTokens, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "fly",
    title: "Fly.io",
    subject: SubjectStyle::Lower(16),
    access_token_prefix: "fo1_",
    expires_in: Some(7200),
    refresh_tokens: RefreshTokens::Always,
    resources: &[Resource::new("/oauth/token/info", read_token_info)],
    ..DEFAULT
};

fn read_token_info(account: &Account<'_>) -> Value {
    let person = account.person;
    json!({
        "resource_owner_id": account.subject, "scope": ["read"], "expires_in": 7200,
        "application": {"uid": account.client_id}, "created_at": Utc::now().timestamp(),
        "user_id": account.subject, "user_name": person.name, "email": person.email,
        // Fly lists every organization with the person's role; here each person is the admin of an organization.
        "organizations": [{"id": SubjectStyle::Lower(12).make_id("fly-organization", &person.id), "role": "admin"}],
    })
}
