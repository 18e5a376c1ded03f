//! The built-in providers, one file each: endpoints, scopes, and how the profile is read.
//!
//! To add one: a file with a [`NamedProvider`], and its line in [`PROVIDERS`]. Source: Auth contract §8.1.

use super::definition::{Definition, IdTokenRules, NamedProvider};
use crate::error::ProviderError;

mod apple;
mod azure;
mod bitbucket;
mod discord;
mod facebook;
mod figma;
mod fly;
mod github;
mod gitlab;
mod google;
mod kakao;
mod keycloak;
mod linkedin;
mod linkedin_oidc;
mod notion;
mod slack;
mod snapchat;
mod spotify;
mod twitch;
mod twitter;
mod vercel_marketplace;
mod workos;
mod x;
mod zoom;

/// All built-in providers, sorted by name.
static PROVIDERS: [NamedProvider; 25] = [
    apple::PROVIDER,
    azure::PROVIDER,
    bitbucket::PROVIDER,
    discord::PROVIDER,
    facebook::PROVIDER,
    figma::PROVIDER,
    fly::PROVIDER,
    github::PROVIDER,
    gitlab::PROVIDER,
    google::PROVIDER,
    kakao::PROVIDER,
    keycloak::PROVIDER,
    linkedin::PROVIDER,
    linkedin_oidc::PROVIDER,
    notion::PROVIDER,
    slack::SLACK,
    slack::SLACK_OIDC,
    snapchat::PROVIDER,
    spotify::PROVIDER,
    twitch::PROVIDER,
    twitter::PROVIDER,
    vercel_marketplace::PROVIDER,
    workos::PROVIDER,
    x::PROVIDER,
    zoom::PROVIDER,
];

/// The names of all built-in providers, as in `[auth.external.<name>]` of a project and `provider=` of `/authorize`.
pub static PROVIDER_NAMES: [&str; PROVIDERS.len()] = {
    let mut names = [""; PROVIDERS.len()];
    let mut index = 0;
    // A constant is computed at compile time, where `for` loops are not allowed.
    while index < names.len() {
        names[index] = PROVIDERS[index].name;
        index += 1;
    }
    names
};

fn find_provider(name: &str) -> Option<&'static NamedProvider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// The definition of a built-in provider. `None` for an unknown name, or when the provider needs `url` and it is
/// missing.
pub(super) fn find_definition(name: &str, url: Option<&str>) -> Option<Definition> {
    (find_provider(name)?.define)(url.map(trim_trailing_slash))
}

/// How an ID token of a built-in provider is checked. `None` for an unknown name, or when the provider has no ID
/// tokens.
pub(super) fn find_id_token_rules(
    name: &str,
    url: Option<&str>,
    token: &str,
) -> Option<Result<IdTokenRules, ProviderError>> {
    (find_provider(name)?.id_token_rules)(url.map(trim_trailing_slash), token)
}

/// Projects write `url` with or without a trailing slash; paths are appended to the form without.
fn trim_trailing_slash(url: &str) -> &str {
    url.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_name_has_a_definition_and_unknown_names_have_none() {
        for name in PROVIDER_NAMES {
            assert!(
                find_definition(name, Some("https://id.example")).is_some(),
                "{name}"
            );
        }
        assert!(find_definition("nobody", None).is_none());
        assert!(
            find_definition("keycloak", None).is_none(),
            "there is no public Keycloak"
        );
    }

    /// Whether a provider has verified an address is what it says. Where it says nothing the address is unverified, but for providers
    /// that return no other ones. Each reader of a profile has its line here.
    #[test]
    fn auth_103_only_providers_that_return_verified_addresses_alone_need_not_say_so() {
        const READERS: [&str; 26] = [
            "apple: true",
            "azure: is_verified",
            "discord: user.is_true(\"verified\")",
            "facebook: true",
            "facebook: true",
            "figma: false",
            "fly: false",
            "gitlab: !user.text(\"confirmed_at\").is_empty()",
            "google: is_verified",
            "google: user.is_true(\"verified_email\")",
            "kakao: false",
            "kakao: is_verified",
            "keycloak: user.is_true(\"email_verified\")",
            "linkedin: false",
            "linkedin_oidc: claims.is_true(\"email_verified\")",
            "notion: false",
            "slack: user.is_true(\"email_verified\")",
            "snapchat: false",
            "snapchat: fields.is_true(\"email_verified\")",
            "spotify: false",
            "twitch: true",
            "twitter: true",
            "vercel_marketplace: true",
            "workos: false",
            "x: true",
            "zoom: is_verified",
        ];
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/providers");
        let mut files = vec![(
            "twitter".to_owned(),
            std::path::Path::new(folder).join("oauth1.rs"),
        )];
        for entry in std::fs::read_dir(format!("{folder}/named")).expect("the folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            files.push((name, path));
        }
        let mut found = Vec::new();
        for (name, path) in files.iter().filter(|(name, _)| name != "mod") {
            let text = std::fs::read_to_string(path).expect("a source file");
            for call in text.split(".with_email(").skip(1) {
                // The second argument, up to the end of the call.
                let (_, rest) = call.split_once("\"), ").expect("a member of the profile");
                let end = rest.find([')', '\n']).expect("an end");
                let argument =
                    if rest.starts_with("true") || rest.starts_with("false") || rest.starts_with("is_") {
                        &rest[..end]
                    } else {
                        let line = rest.lines().next().unwrap_or_default();
                        line.trim_end_matches(';').strip_suffix(')').unwrap_or(line)
                    };
                found.push(format!("{name}: {argument}"));
            }
        }
        found.sort();
        assert_eq!(found, READERS);
    }

    #[test]
    fn provider_names_are_sorted_and_unique() {
        assert!(PROVIDER_NAMES.is_sorted_by(|a, b| a < b));
    }
}
