//! The providers that have a name: where they are, what we ask them for, how they tell who somebody is.
//!
//! Source: Auth contract §8.1. `url` of a project's configuration replaces the host of a provider that one can host oneself;
//! for Google and Apple it replaces the issuer, so that a test provider can stand in for them.

use super::discovery::Issuer;
use super::id_token::Dialect;
use super::userinfo::UserInfo;
use super::{Endpoints, Source};

/// What is fixed about a provider.
pub(super) struct Entry {
    pub(super) endpoints: Endpoints,
    pub(super) source: Source,
    pub(super) scopes: Vec<String>,
    /// Whether `scopes` of a request are added.
    pub(super) takes_scopes: bool,
    pub(super) uses_pkce: bool,
    /// Whether the secret goes into the form only: these refuse, or do not know, the header.
    pub(super) secret_in_form: bool,
    pub(super) params: Vec<(String, String)>,
}

const APPLE: &str = "https://appleid.apple.com";
const APPLE_ALIASES: &[&str] = &[APPLE, "https://account.apple.com"];
pub(super) const GOOGLE: &str = "https://accounts.google.com";
const GOOGLE_USERINFO: &str = "https://www.googleapis.com/userinfo/v2/me";
const LINKEDIN: &str = "https://www.linkedin.com/oauth";
const VERCEL: &str = "https://marketplace.vercel.com";

/// The names of all of them, as a project's configuration and `/authorize` spell them.
pub const PROVIDER_NAMES: [&str; 25] = [
    "apple",
    "azure",
    "bitbucket",
    "discord",
    "facebook",
    "figma",
    "fly",
    "github",
    "gitlab",
    "google",
    "kakao",
    "keycloak",
    "linkedin",
    "linkedin_oidc",
    "notion",
    "slack",
    "slack_oidc",
    "snapchat",
    "spotify",
    "twitch",
    "twitter",
    "vercel_marketplace",
    "workos",
    "x",
    "zoom",
];

/// What we know of a name; `None` for an unknown one.
pub(super) fn entry(name: &str, url: Option<&str>) -> Option<Entry> {
    let url = url.map(|url| url.trim_end_matches('/'));
    let host = |default: &str| url.map_or_else(|| format!("https://{default}"), str::to_owned);
    let rest = |authorize: String, token: String, userinfo: UserInfo, api: String, scopes: &[&str]| Entry {
        endpoints: Endpoints::Fixed { authorize, token },
        source: Source::UserInfo { userinfo, api },
        scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        takes_scopes: true,
        uses_pkce: false,
        secret_in_form: false,
        params: Vec::new(),
    };
    let oidc = |issuer: String, dialect: Dialect, scopes: &[&str]| Entry {
        endpoints: Endpoints::Discovered(Issuer::new(issuer.clone())),
        source: Source::IdToken {
            issuer: Issuer::new(issuer),
            aliases: &[],
            dialect,
            userinfo: None,
        },
        ..rest(
            String::new(),
            String::new(),
            UserInfo::Standard,
            String::new(),
            scopes,
        )
    };
    Some(match name {
        "apple" => Entry {
            takes_scopes: false,
            secret_in_form: true,
            params: vec![("response_mode".to_owned(), "form_post".to_owned())],
            source: Source::IdToken {
                issuer: Issuer::new(url.unwrap_or(APPLE)),
                aliases: if url.is_some() { &[] } else { APPLE_ALIASES },
                dialect: Dialect::Apple,
                userinfo: None,
            },
            ..oidc(
                url.unwrap_or(APPLE).to_owned(),
                Dialect::Apple,
                &["email", "name"],
            )
        },
        "azure" => {
            let base = host("login.microsoftonline.com/common");
            Entry {
                endpoints: Endpoints::Fixed {
                    authorize: format!("{base}/oauth2/v2.0/authorize"),
                    token: format!("{base}/oauth2/v2.0/token"),
                },
                source: Source::AzureIdToken { base },
                ..oidc(String::new(), Dialect::Azure, &["openid"])
            }
        }
        "bitbucket" => {
            let (auth, api) = (
                host("bitbucket.org"),
                format!("{}/2.0", host("api.bitbucket.org")),
            );
            let (authorize, token) = (
                format!("{auth}/site/oauth2/authorize"),
                format!("{auth}/site/oauth2/access_token"),
            );
            Entry {
                takes_scopes: false,
                ..rest(authorize, token, UserInfo::Bitbucket, api, &["account", "email"])
            }
        }
        "discord" => {
            let api = format!("{}/api", host("discord.com"));
            let (authorize, token) = (format!("{api}/oauth2/authorize"), format!("{api}/oauth2/token"));
            rest(authorize, token, UserInfo::Discord, api, &["email", "identify"])
        }
        "facebook" => {
            let api = host("graph.facebook.com");
            let authorize = format!("{}/dialog/oauth", host("www.facebook.com"));
            rest(
                authorize,
                format!("{api}/oauth/access_token"),
                UserInfo::Facebook,
                api,
                &["email"],
            )
        }
        "figma" => {
            let api = host("api.figma.com");
            let authorize = format!("{}/oauth", host("www.figma.com"));
            rest(
                authorize,
                format!("{api}/v1/oauth/token"),
                UserInfo::Figma,
                api,
                &["current_user:read"],
            )
        }
        "fly" => {
            let api = host("api.fly.io");
            let (authorize, token) = (format!("{api}/oauth/authorize"), format!("{api}/oauth/token"));
            rest(authorize, token, UserInfo::Fly, api, &["read"])
        }
        "github" => {
            let auth = host("github.com");
            let api = url.map_or_else(
                || "https://api.github.com".to_owned(),
                |url| format!("{url}/api/v3"),
            );
            let (authorize, token) = (
                format!("{auth}/login/oauth/authorize"),
                format!("{auth}/login/oauth/access_token"),
            );
            rest(authorize, token, UserInfo::GitHub, api, &["user:email"])
        }
        "gitlab" => {
            let api = host("gitlab.com");
            let (authorize, token) = (format!("{api}/oauth/authorize"), format!("{api}/oauth/token"));
            rest(authorize, token, UserInfo::GitLab, api, &["read_user"])
        }
        "google" => {
            let issuer = url.unwrap_or(GOOGLE);
            Entry {
                source: Source::IdToken {
                    issuer: Issuer::new(issuer),
                    aliases: if url.is_some() {
                        &[]
                    } else {
                        &["accounts.google.com"]
                    },
                    dialect: Dialect::Google,
                    userinfo: url.is_none().then_some(GOOGLE_USERINFO),
                },
                ..oidc(issuer.to_owned(), Dialect::Google, &["email", "profile"])
            }
        }
        "kakao" => {
            let (auth, api) = (host("kauth.kakao.com"), host("kapi.kakao.com"));
            let (authorize, token) = (format!("{auth}/oauth/authorize"), format!("{auth}/oauth/token"));
            let scopes = ["account_email", "profile_image", "profile_nickname"];
            Entry {
                secret_in_form: true,
                ..rest(authorize, token, UserInfo::Kakao, api, &scopes)
            }
        }
        "keycloak" => {
            let realm = url?;
            let endpoint = |name: &str| format!("{realm}/protocol/openid-connect/{name}");
            rest(
                endpoint("auth"),
                endpoint("token"),
                UserInfo::Keycloak,
                realm.to_owned(),
                &["profile", "email"],
            )
        }
        "linkedin" | "linkedin_oidc" => {
            let api = host("api.linkedin.com");
            let endpoints = (
                format!("{api}/oauth/v2/authorization"),
                format!("{api}/oauth/v2/accessToken"),
            );
            let (authorize, token) = endpoints;
            if name == "linkedin" {
                let scopes = ["r_emailaddress", "r_liteprofile"];
                return Some(rest(authorize, token, UserInfo::LinkedIn, api, &scopes));
            }
            Entry {
                endpoints: Endpoints::Fixed { authorize, token },
                ..oidc(
                    LINKEDIN.to_owned(),
                    Dialect::LinkedIn,
                    &["openid", "email", "profile"],
                )
            }
        }
        "notion" => {
            let api = host("api.notion.com");
            let (authorize, token) = (
                format!("{api}/v1/oauth/authorize"),
                format!("{api}/v1/oauth/token"),
            );
            Entry {
                takes_scopes: false,
                ..rest(authorize, token, UserInfo::Notion, api, &[])
            }
        }
        "slack" | "slack_oidc" => {
            let base = host("slack.com");
            let api = format!("{base}/api");
            let scopes = ["profile", "email", "openid"];
            if name == "slack" {
                let (authorize, token) = (format!("{base}/oauth/authorize"), format!("{api}/oauth.access"));
                return Some(rest(
                    authorize,
                    token,
                    UserInfo::Slack { vouches: true },
                    api,
                    &scopes,
                ));
            }
            let authorize = format!("{base}/openid/connect/authorize");
            let token = format!("{api}/openid.connect.token");
            rest(authorize, token, UserInfo::Slack { vouches: false }, api, &scopes)
        }
        "snapchat" => {
            let auth = host("accounts.snapchat.com");
            let (authorize, token) = (
                format!("{auth}/accounts/oauth2/auth"),
                format!("{auth}/accounts/oauth2/token"),
            );
            let scopes = [
                "https://auth.snapchat.com/oauth2/api/user.external_id",
                "https://auth.snapchat.com/oauth2/api/user.display_name",
                "https://auth.snapchat.com/oauth2/api/user.bitmoji.avatar",
            ];
            rest(
                authorize,
                token,
                UserInfo::Snapchat,
                host("kit.snapchat.com"),
                &scopes,
            )
        }
        "spotify" => {
            let auth = host("accounts.spotify.com");
            let (authorize, token) = (format!("{auth}/authorize"), format!("{auth}/api/token"));
            rest(
                authorize,
                token,
                UserInfo::Spotify,
                host("api.spotify.com/v1"),
                &["user-read-email"],
            )
        }
        "twitch" => {
            let auth = host("id.twitch.tv");
            let (authorize, token) = (format!("{auth}/oauth2/authorize"), format!("{auth}/oauth2/token"));
            rest(
                authorize,
                token,
                UserInfo::Twitch,
                host("api.twitch.tv"),
                &["user:read:email"],
            )
        }
        "twitter" => {
            let api = host("api.twitter.com");
            Entry {
                endpoints: Endpoints::Signed { api: api.clone() },
                source: Source::Signed { api },
                takes_scopes: false,
                ..rest(
                    String::new(),
                    String::new(),
                    UserInfo::Standard,
                    String::new(),
                    &[],
                )
            }
        }
        "vercel_marketplace" => {
            let api = host("api.vercel.com");
            Entry {
                endpoints: Endpoints::Fixed {
                    authorize: format!("{api}/oauth/v2/authorization"),
                    token: format!("{api}/oauth/v2/accessToken"),
                },
                ..oidc(VERCEL.to_owned(), Dialect::Vercel, &[])
            }
        }
        "workos" => {
            let api = host("api.workos.com");
            let (authorize, token) = (format!("{api}/sso/authorize"), format!("{api}/sso/token"));
            Entry {
                takes_scopes: false,
                secret_in_form: true,
                ..rest(authorize, token, UserInfo::WorkOs, api, &[])
            }
        }
        "x" => {
            let api = host("api.x.com");
            let authorize = format!("{}/i/oauth2/authorize", host("x.com"));
            let scopes = ["users.email", "tweet.read", "users.read", "offline.access"];
            Entry {
                uses_pkce: true,
                ..rest(
                    authorize,
                    format!("{api}/2/oauth2/token"),
                    UserInfo::X,
                    api,
                    &scopes,
                )
            }
        }
        "zoom" => {
            let auth = format!("{}/oauth", host("zoom.us"));
            let (authorize, token) = (format!("{auth}/authorize"), format!("{auth}/token"));
            Entry {
                takes_scopes: false,
                ..rest(
                    authorize,
                    token,
                    UserInfo::Zoom,
                    format!("{}/v2", host("api.zoom.us")),
                    &[],
                )
            }
        }
        _ => return None,
    })
}

/// How an ID token handed in by a client (`grant_type=id_token`) is checked: issuer and dialect by the provider's name.
/// `None`: this provider has no ID tokens.
pub(super) fn id_token_issuer(
    name: &str,
    url: Option<&str>,
) -> Option<(Issuer, &'static [&'static str], Dialect)> {
    let url = url.map(|url| url.trim_end_matches('/'));
    Some(match name {
        "google" => (
            Issuer::new(url.unwrap_or(GOOGLE)),
            if url.is_some() {
                &[]
            } else {
                &["accounts.google.com"]
            },
            Dialect::Google,
        ),
        "apple" => (
            Issuer::new(url.unwrap_or(APPLE)),
            if url.is_some() { &[] } else { APPLE_ALIASES },
            Dialect::Apple,
        ),
        "facebook" => (Issuer::new("https://www.facebook.com"), &[], Dialect::Facebook),
        "kakao" => (Issuer::new("https://kauth.kakao.com"), &[], Dialect::Kakao),
        "keycloak" => (Issuer::new(url?), &[], Dialect::Standard),
        "linkedin_oidc" => (Issuer::new(LINKEDIN), &[], Dialect::LinkedIn),
        "snapchat" => (
            Issuer::new("https://accounts.snapchat.com/accounts/oauth2/token"),
            &[],
            Dialect::Snapchat,
        ),
        "vercel_marketplace" => (Issuer::new(VERCEL), &[], Dialect::Vercel),
        _ => return None,
    })
}

/// Azure's issuers carry the tenant: `https://login.microsoftonline.com/<tenant>/v2.0`.
pub(super) fn is_azure_issuer(issuer: &str) -> bool {
    issuer
        .strip_prefix("https://login.microsoftonline.com/")
        .and_then(|rest| rest.strip_suffix("/v2.0").or(rest.strip_suffix("/v2.0/")))
        .is_some_and(|tenant| {
            !tenant.is_empty()
                && tenant
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known() {
        for name in PROVIDER_NAMES {
            assert!(entry(name, Some("https://id.example")).is_some(), "{name}");
        }
        assert!(entry("nobody", None).is_none());
        assert!(entry("keycloak", None).is_none(), "has no place of its own");
    }

    #[test]
    fn azure_issuers_name_one_tenant() {
        assert!(is_azure_issuer(
            "https://login.microsoftonline.com/9188040d-6c67/v2.0"
        ));
        for wrong in [
            "https://login.microsoftonline.com//v2.0",
            "https://login.microsoftonline.com/a/b/v2.0",
            "https://login.microsoftonline.com.evil.example/a/v2.0",
            "https://login.microsoftonline.com/a?x=/v2.0",
        ] {
            assert!(!is_azure_issuer(wrong), "{wrong}");
        }
    }
}
