//! The providers, one file each. Each names the public documentation that its shapes come from.

use super::provider::Provider;

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

/// All providers, sorted by name.
static PROVIDERS: [&Provider; 25] = [
    &apple::PROVIDER,
    &azure::PROVIDER,
    &bitbucket::PROVIDER,
    &discord::PROVIDER,
    &facebook::PROVIDER,
    &figma::PROVIDER,
    &fly::PROVIDER,
    &github::PROVIDER,
    &gitlab::PROVIDER,
    &google::PROVIDER,
    &kakao::PROVIDER,
    &keycloak::PROVIDER,
    &linkedin::PROVIDER,
    &linkedin_oidc::PROVIDER,
    &notion::PROVIDER,
    &slack::SLACK,
    &slack::SLACK_OIDC,
    &snapchat::PROVIDER,
    &spotify::PROVIDER,
    &twitch::PROVIDER,
    &twitter::PROVIDER,
    &vercel_marketplace::PROVIDER,
    &workos::PROVIDER,
    &x::PROVIDER,
    &zoom::PROVIDER,
];

/// Finds the provider of this name.
pub(super) fn find_provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().copied().find(|provider| provider.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_one_provider_never_match_each_other() {
        for provider in PROVIDERS {
            let own = [provider.authorize_path, provider.token_path];
            let mut paths: Vec<&str> = provider.resources.iter().map(|resource| resource.path).collect();
            paths.extend(own);
            for path in &paths {
                let matching = paths.iter().filter(|other| path.ends_with(**other)).count();
                assert_eq!(matching, 1, "{} {path}", provider.name);
            }
        }
    }
}
