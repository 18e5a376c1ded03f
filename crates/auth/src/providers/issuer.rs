//! The name of an OpenID Connect issuer and the URL of its discovery document. [`super::discovery`] uses both together
//! as the key of its cache.

use crate::store::custom_providers::CustomProvider;

/// An OpenID Connect issuer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Issuer {
    /// The exact string that `iss` of its tokens must equal.
    pub(crate) name: String,
    /// URL of the discovery document. `None`: `/.well-known/openid-configuration` below the name (OpenID Connect
    /// Discovery §4).
    pub(crate) discovery_url: Option<String>,
}

impl Issuer {
    /// An issuer whose discovery document has the standard URL.
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            discovery_url: None,
        }
    }

    /// The issuer of a custom provider; `None` when its row has no issuer, as for providers of plain OAuth
    /// 2.0.
    pub(crate) fn from_custom(custom: &CustomProvider) -> Option<Self> {
        Some(Self {
            name: custom.issuer.clone()?,
            discovery_url: custom.discovery_url.clone().filter(|url| !url.is_empty()),
        })
    }

    /// The URL of the discovery document.
    pub(super) fn document_url(&self) -> String {
        self.discovery_url.clone().unwrap_or_else(|| {
            format!(
                "{}/.well-known/openid-configuration",
                self.name.trim_end_matches('/')
            )
        })
    }
}
