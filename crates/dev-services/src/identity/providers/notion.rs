//! Notion. Source: <https://developers.notion.com/reference/get-self>,
//! <https://developers.notion.com/reference/create-a-token>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "notion",
    title: "Notion",
    authorize_path: "/v1/oauth/authorize",
    token_path: "/v1/oauth/token",
    subject: SubjectStyle::Uuid,
    access_token_prefix: "ntn_",
    token_extras: |account| {
        json!({
            "bot_id": make_bot_id(account), "duplicated_template_id": null, "owner": read_owner(account),
            "workspace_icon": null, "workspace_id": SubjectStyle::Uuid.make_id("notion-workspace", ""),
            "workspace_name": "Development",
        })
    },
    // Notion refuses calls that do not name a version of its API.
    resources: &[Resource {
        required_header: Some(("notion-version", Some("2021-08-16"))),
        ..Resource::new("/v1/users/me", read_bot)
    }],
    denial: ("access_denied", ""),
    ..DEFAULT
};

fn make_bot_id(account: &Account<'_>) -> String {
    SubjectStyle::Uuid.make_id("notion-bot", &account.person.id)
}

/// The token belongs to the bot of the integration; its owner is the person.
fn read_bot(account: &Account<'_>) -> Value {
    json!({
        "object": "user", "id": make_bot_id(account), "name": "Development", "avatar_url": null, "type": "bot",
        "bot": {"owner": read_owner(account), "workspace_name": "Development"},
    })
}

fn read_owner(account: &Account<'_>) -> Value {
    let person = account.person;
    let mut about = json!({});
    if let Some(email) = &person.email {
        about["email"] = json!(email);
    }
    json!({
        "type": "user",
        "user": {
            "object": "user", "id": account.subject, "name": person.name, "avatar_url": account.picture,
            "type": "person", "person": about,
        },
    })
}
