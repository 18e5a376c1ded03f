//! `WorkOS`. Source: <https://workos.com/docs/reference/sso/profile>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "workos",
    title: "WorkOS",
    authorize_path: "/sso/authorize",
    token_path: "/sso/token",
    subject: SubjectStyle::Prefixed("prof_01", 24),
    token_type: "Bearer",
    expires_in: Some(600),
    token_extras: |account| json!({"profile": read_profile(account)}),
    denial: ("access_denied", ""),
    ..DEFAULT
};

/// The request may name a connection or an organization; otherwise the person is in an invented one.
fn read_profile(account: &Account<'_>) -> Value {
    let person = account.person;
    // Without either parameter all people get the same ids, as members of one organization.
    let named = |param: &str, prefix: &'static str| match account.param(param) {
        "" => SubjectStyle::Prefixed(prefix, 24).make_id("workos", param),
        id => id.to_owned(),
    };
    json!({
        "object": "profile", "id": account.subject, "connection_id": named("connection", "conn_01"),
        "organization_id": named("organization", "org_01"), "connection_type": "TestIdp",
        "idp_id": person.id, "email": person.email, "first_name": person.given_name(),
        "last_name": person.family_name(), "role": {"slug": "member"}, "groups": [], "custom_attributes": {},
        "raw_attributes": {},
    })
}
