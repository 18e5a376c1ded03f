//! Where calls to a provider go: to the provider's own hosts, or to a development identity provider that answers in
//! place of all of them.
//!
//! Only addresses differ between the two. Issuers keep their public names, because identities and ID tokens contain
//! them.

use super::issuer::Issuer;
use crate::config::ProviderConfig;

/// Maps the public URLs of one provider to those that are called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Addresses<'a> {
    /// `development_url` of the configuration, without a trailing slash.
    development_url: Option<&'a str>,
}

impl<'a> Addresses<'a> {
    /// The addresses of a configured provider.
    pub(super) fn from_config(config: &'a ProviderConfig) -> Self {
        Self {
            development_url: config
                .development_url
                .as_deref()
                .map(|url| url.trim_end_matches('/')),
        }
    }

    /// The URL to call in place of a public one: `https://host/path` becomes `<development_url>/host/path`. Without a
    /// development provider it is unchanged.
    pub(super) fn resolve_url(self, url: &str) -> String {
        let below_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
        match self.development_url {
            Some(base) => format!("{base}/{below_scheme}"),
            None => url.to_owned(),
        }
    }

    /// The issuer with the discovery document of the development provider. Its name stays the same; as the URL of the
    /// document is a part of the cache's key, keys of the development provider never verify tokens of the real issuer.
    pub(super) fn resolve_issuer(self, issuer: &Issuer) -> Issuer {
        let discovery_url = match self.development_url {
            Some(_) => Some(self.resolve_url(&issuer.document_url())),
            None => issuer.discovery_url.clone(),
        };
        Issuer {
            name: issuer.name.clone(),
            discovery_url,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn development_provider_answers_for_every_host_and_the_issuer_keeps_its_name() {
        let issuer = Issuer::new("https://accounts.google.com");
        let real = Addresses {
            development_url: None,
        };
        let development = Addresses {
            development_url: Some("http://127.0.0.1:54324/sign-in/google"),
        };

        assert_eq!(
            real.resolve_url("https://api.github.com/user"),
            "https://api.github.com/user"
        );
        assert_eq!(real.resolve_issuer(&issuer), issuer);
        assert_eq!(
            development.resolve_url("https://api.github.com/user?a=b"),
            "http://127.0.0.1:54324/sign-in/google/api.github.com/user?a=b"
        );
        let resolved = development.resolve_issuer(&issuer);
        assert_eq!(resolved.name, "https://accounts.google.com");
        assert_eq!(
            resolved.document_url(),
            "http://127.0.0.1:54324/sign-in/google/accounts.google.com/.well-known/openid-configuration"
        );
    }
}
