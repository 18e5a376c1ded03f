//! `GET /settings`: which ways to sign in are enabled, for sign-in forms. Holds no secrets. Source: Auth contract
//! §2.2, AUTH-096.

use actix_web::{HttpResponse, web};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::state::AuthState;

/// External providers in the order of the contract. Compat: providers that upstream has added later are missing, as
/// in its own list.
const PROVIDERS: [&str; 23] = [
    "apple",
    "azure",
    "bitbucket",
    "discord",
    "facebook",
    "snapchat",
    "figma",
    "fly",
    "github",
    "gitlab",
    "google",
    "keycloak",
    "kakao",
    "linkedin",
    "linkedin_oidc",
    "notion",
    "spotify",
    "slack",
    "slack_oidc",
    "workos",
    "twitch",
    "twitter",
    "zoom",
];

/// Body of the response.
#[derive(Serialize)]
struct SettingsBody {
    /// Whether each way to sign in is enabled, by its name.
    external: Map<String, Value>,
    disable_signup: bool,
    mailer_autoconfirm: bool,
    phone_autoconfirm: bool,
    /// The name of the SMS provider; empty when there is none.
    sms_provider: &'static str,
    saml_enabled: bool,
    saml_private_key_next_configured: bool,
    passkeys_enabled: bool,
}

/// `GET /settings` → 200 with the settings above.
pub(crate) async fn get_settings(state: web::Data<AuthState>) -> HttpResponse {
    let config = &state.config;
    let is_on = |provider: &str| config.external.iter().any(|enabled| enabled.name == provider);
    let mut external: Map<String, Value> = PROVIDERS
        .iter()
        .map(|provider| ((*provider).to_owned(), Value::Bool(is_on(provider))))
        .collect();
    let others = [
        ("anonymous_users", config.anonymous_users_enabled),
        ("email", config.email.enabled),
        ("phone", config.phone.enabled),
    ];
    external.extend(others.map(|(name, is_on)| (name.to_owned(), Value::Bool(is_on))));
    let sms_provider = config.phone.provider.as_ref();
    HttpResponse::Ok().json(SettingsBody {
        external,
        disable_signup: config.disable_signup,
        mailer_autoconfirm: config.email.autoconfirm,
        phone_autoconfirm: config.phone.autoconfirm,
        // Compat: an empty text, not null, when there is no provider.
        sms_provider: sms_provider.map_or("", |provider| provider.name()),
        saml_enabled: config.saml.is_some(),
        saml_private_key_next_configured: config
            .saml
            .as_ref()
            .is_some_and(|saml| saml.service.has_next_key()),
        passkeys_enabled: config.webauthn.passkeys_enabled,
    })
}
