//! The parts of `[auth]` about other services: OAuth providers, hooks, third-party token issuers, the OAuth server.

use secrecy::{ExposeSecret, SecretString};
use selvedge_auth::PROVIDER_NAMES;

use crate::reader::removed::warn_of_removed_providers;
use crate::reader::section::Section;

/// `[auth.external.<provider>]`.
#[derive(Debug, Clone)]
pub struct ProviderSection {
    /// `google`, `github`, …
    pub name: String,
    /// The client id at the provider. Further ids, separated by commas, are accepted as the audience of ID tokens.
    pub client_id: String,
    /// The client secret at the provider.
    pub secret: Option<SecretString>,
    /// Base URL of a self-hosted provider, such as GitLab or Keycloak.
    pub url: Option<String>,
    /// The callback URL registered at the provider. Default `<api url>/auth/v1/callback`.
    pub redirect_uri: Option<String>,
    /// Whether ID tokens are accepted without checking their nonce. Default false.
    pub skip_nonce_check: bool,
    /// Whether accounts without an e-mail address are accepted. Default false.
    pub email_optional: bool,
}

/// Client id and secret of a provider that has no registration, so that `start` answers in its place.
const DEVELOPMENT_CREDENTIAL: &str = "dev";

impl ProviderSection {
    /// Whether client id or secret are missing: empty, an `env(…)` whose variable is not set, or `dev`.
    pub fn lacks_credentials(&self) -> bool {
        is_placeholder(&self.client_id) || is_placeholder(self.expose_secret())
    }

    /// Whether both client id and secret say that the provider is for development only.
    pub fn is_for_development(&self) -> bool {
        self.client_id == DEVELOPMENT_CREDENTIAL
            && matches!(self.expose_secret(), "" | DEVELOPMENT_CREDENTIAL)
    }

    fn expose_secret(&self) -> &str {
        self.secret.as_ref().map_or("", |secret| secret.expose_secret())
    }
}

/// Whether a credential is missing: empty, an `env(…)` whose variable is not set, or `dev`.
pub(super) fn is_placeholder(credential: &str) -> bool {
    let is_unset_reference = credential.starts_with("env(") && credential.ends_with(')');
    credential.is_empty() || credential == DEVELOPMENT_CREDENTIAL || is_unset_reference
}

/// `[auth.hook.<name>]`.
#[derive(Debug, Clone)]
pub struct HookSection {
    /// One of [`HOOKS`].
    pub name: &'static str,
    /// `pg-functions://postgres/<schema>/<function>` or `http(s)://…`.
    pub uri: String,
    /// Signing secrets, `v1,whsec_…`, separated by `|`.
    pub secrets: Option<SecretString>,
}

/// An issuer whose access tokens are accepted like the project's own, by every service but Auth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThirdParty {
    /// `[auth.third_party.firebase]`
    Firebase {
        /// `project_id`
        project_id: String,
    },
    /// `[auth.third_party.auth0]`
    Auth0 {
        /// `tenant`
        tenant: String,
        /// `tenant_region`
        region: Option<String>,
    },
    /// `[auth.third_party.aws_cognito]`
    AwsCognito {
        /// `user_pool_id`
        user_pool_id: String,
        /// `user_pool_region`
        region: String,
    },
    /// `[auth.third_party.clerk]`
    Clerk {
        /// `domain`
        domain: String,
    },
    /// `[auth.third_party.workos]`
    Workos {
        /// `issuer_url`
        issuer_url: String,
    },
}

impl ThirdParty {
    /// The issuer's address without a slash at its end. Its discovery document lies at
    /// `<address>/.well-known/openid-configuration`.
    pub fn issuer_url(&self) -> String {
        match self {
            Self::Firebase { project_id } => format!("https://securetoken.google.com/{project_id}"),
            Self::Auth0 { tenant, region } => match region {
                Some(region) => format!("https://{tenant}.{region}.auth0.com"),
                None => format!("https://{tenant}.auth0.com"),
            },
            Self::AwsCognito { user_pool_id, region } => {
                format!("https://cognito-idp.{region}.amazonaws.com/{user_pool_id}")
            }
            Self::Clerk { domain } => format!("https://{domain}"),
            Self::Workos { issuer_url } => issuer_url.trim_end_matches('/').to_owned(),
        }
    }
}

/// `[auth.oauth_server]`.
#[derive(Debug, Clone)]
pub struct OauthServerSection {
    /// Whether the OAuth server is switched on. Default false.
    pub enabled: bool,
    /// Path of the site's consent page, below `site_url`. Default `/oauth/consent`.
    pub authorization_url_path: String,
    /// Whether OAuth clients may register without an administrator. Default false.
    pub allow_dynamic_registration: bool,
}

const HOOKS: [&str; 7] = [
    "before_user_created",
    "after_user_created",
    "custom_access_token",
    "send_sms",
    "send_email",
    "mfa_verification_attempt",
    "password_verification_attempt",
];

pub(super) fn read_providers(section: &Section<'_>) -> Vec<ProviderSection> {
    warn_of_removed_providers(section);
    // A misspelt name would otherwise leave the provider off without a word.
    for name in section
        .entry_names()
        .iter()
        .filter(|name| !PROVIDER_NAMES.contains(&name.as_str()))
    {
        section.report_warning(
            name,
            &format!("is not a provider we know ({})", PROVIDER_NAMES.join(", ")),
        );
    }
    PROVIDER_NAMES
        .iter()
        .filter_map(|name| read_provider(&section.section(name), name))
        .collect()
}

fn read_provider(section: &Section<'_>, name: &str) -> Option<ProviderSection> {
    let enabled = section.is_enabled(false);
    let provider = ProviderSection {
        name: name.to_owned(),
        client_id: section.string("client_id", ""),
        secret: section.optional_secret("secret"),
        url: section.optional_string("url"),
        redirect_uri: section.optional_string("redirect_uri"),
        skip_nonce_check: section.bool("skip_nonce_check", false),
        email_optional: section.bool("email_optional", false),
    };
    enabled.then_some(provider)
}

pub(super) fn read_hooks(section: &Section<'_>) -> Vec<HookSection> {
    HOOKS
        .iter()
        .filter_map(|name| read_hook(&section.section(name), name))
        .collect()
}

fn read_hook(section: &Section<'_>, name: &'static str) -> Option<HookSection> {
    let enabled = section.is_enabled(false);
    let uri = section.optional_string("uri");
    let secrets = section.optional_secret("secrets");
    if !enabled {
        return None;
    }
    // An error and not a warning: the project may rely on the hook to refuse sign-ups or sign-ins.
    let Some(uri) = uri.filter(|uri| is_hook_uri(uri)) else {
        section.report_error(
            "uri",
            "must be \"pg-functions://postgres/<schema>/<function>\" or an http(s) URL, as the hook is enabled",
        );
        return None;
    };
    Some(HookSection { name, uri, secrets })
}

fn is_hook_uri(uri: &str) -> bool {
    ["pg-functions://", "http://", "https://"]
        .iter()
        .any(|scheme| uri.starts_with(scheme))
}

/// Reads the enabled issuer; more than one are an error, as with the CLI.
pub(super) fn read_third_party(section: &Section<'_>) -> Option<ThirdParty> {
    let issuers = [
        read_issuer(&section.section("firebase"), "project_id", |_, project_id| {
            ThirdParty::Firebase { project_id }
        }),
        read_issuer(&section.section("auth0"), "tenant", |section, tenant| {
            ThirdParty::Auth0 {
                tenant,
                region: section.optional_string("tenant_region"),
            }
        }),
        read_issuer(&section.section("aws_cognito"), "user_pool_id", read_cognito),
        read_issuer(&section.section("clerk"), "domain", read_clerk),
        read_issuer(&section.section("workos"), "issuer_url", read_workos),
    ];
    let mut enabled = issuers.into_iter().flatten();
    let first = enabled.next();
    if enabled.next().is_some() {
        let names = section.entry_names();
        section.report_error(
            names.last().map_or("", String::as_str),
            "is one of several enabled issuers, and only one may be enabled",
        );
    }
    first
}

fn read_cognito(section: &Section<'_>, user_pool_id: String) -> ThirdParty {
    let region = section.string("user_pool_region", "");
    if region.is_empty() {
        section.report_error("enabled", "is true, so user_pool_region must be set");
    }
    ThirdParty::AwsCognito { user_pool_id, region }
}

fn read_clerk(section: &Section<'_>, domain: String) -> ThirdParty {
    if domain.contains('/') {
        section.report_error("domain", "must be a host name, like clerk.example.com");
    }
    ThirdParty::Clerk { domain }
}

fn read_workos(section: &Section<'_>, issuer_url: String) -> ThirdParty {
    if !["http://", "https://"]
        .iter()
        .any(|scheme| issuer_url.starts_with(scheme))
    {
        section.report_error("issuer_url", "must begin with https://");
    }
    ThirdParty::Workos { issuer_url }
}

fn read_issuer(
    section: &Section<'_>,
    key: &str,
    make: impl FnOnce(&Section<'_>, String) -> ThirdParty,
) -> Option<ThirdParty> {
    let enabled = section.is_enabled(false);
    let name = section.optional_string(key);
    // Only `make` reads these keys, and only if the issuer is enabled; otherwise they would be reported as unknown.
    section.ignore(&["tenant_region", "user_pool_region"]);
    if enabled && name.is_none() {
        section.report_error("enabled", &format!("is true, so {key} must be set"));
    }
    name.filter(|_| enabled).map(|name| make(section, name))
}

impl OauthServerSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        Self {
            enabled: section.is_enabled(false),
            authorization_url_path: section.string("authorization_url_path", "/oauth/consent"),
            allow_dynamic_registration: section.bool("allow_dynamic_registration", false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_unset_and_dev_credentials_count_as_missing() {
        let provider = |client_id: &str, secret: &str| ProviderSection {
            name: "google".to_owned(),
            client_id: client_id.to_owned(),
            secret: Some(secret.to_owned().into()),
            url: None,
            redirect_uri: None,
            skip_nonce_check: false,
            email_optional: false,
        };

        for (client_id, secret) in [
            ("", "s"),
            ("id", ""),
            ("dev", "s"),
            ("id", "dev"),
            ("env(ID)", "s"),
        ] {
            assert!(
                provider(client_id, secret).lacks_credentials(),
                "{client_id} {secret}"
            );
        }
        assert!(!provider("id", "s").lacks_credentials());
        assert!(provider("dev", "dev").is_for_development());
        assert!(!provider("dev", "real").is_for_development());
    }
}
