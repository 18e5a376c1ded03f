//! GitHub. Source: <https://docs.github.com/en/rest/users/users#get-the-authenticated-user>,
//! <https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps>.

use serde_json::{Value, json};

use crate::identity::provider::{Account, DEFAULT, Provider, Resource};
use crate::identity::subject::SubjectStyle;

pub(super) static PROVIDER: Provider = Provider {
    name: "github",
    title: "GitHub",
    authorize_path: "/login/oauth/authorize",
    token_path: "/login/oauth/access_token",
    subject: SubjectStyle::Number(8),
    access_token_prefix: "gho_",
    token_extras: |account| json!({"scope": account.param("scope").replace(' ', ",")}),
    resources: &[
        Resource::new("/user", read_user),
        Resource::new("/user/emails", read_emails),
    ],
    denial: ("access_denied", "The user has denied your application access."),
    // The token endpoint reports a wrong code with status 200 and a member `error`.
    errors_with_200: true,
    answers_with_form: true,
    ..DEFAULT
};

/// `email` is the address that the user shows publicly, which invented people do not.
fn read_user(account: &Account<'_>) -> Value {
    let person = account.person;
    let login = person.user_name().replace('_', "-");
    json!({
        "id": account.numeric_subject(), "login": login, "name": person.name, "avatar_url": account.picture,
        "html_url": format!("https://github.com/{login}"), "type": "User", "site_admin": false,
        "company": null, "blog": "", "location": null, "email": null, "bio": null,
    })
}

fn read_emails(account: &Account<'_>) -> Value {
    let person = account.person;
    let emails = person.email.iter().map(|email| {
        json!({"email": email, "verified": person.email_verified, "primary": true, "visibility": "private"})
    });
    emails.collect()
}
