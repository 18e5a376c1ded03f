//! A configuration with what follows from it, made once and not on every request.

use crate::config::RestConfig;
use crate::identifier::{call_of, quoted};
use actix_web::http::header::HeaderName;
use secrecy::ExposeSecret;
use selvedge_token::{JsonWebKey, KeyMaterialError, Verifier};
use std::sync::Arc;

/// The settings under which a request is answered.
pub(crate) struct Settings {
    pub(crate) config: RestConfig,
    /// `search_path` by exposed schema, quoted.
    search_paths: Vec<(String, String)>,
    /// Call of the function that runs before each statement.
    pub(crate) pre_request: Option<String>,
    /// Verifies tokens with `jwt_secret`.
    pub(crate) verifier: Option<Arc<Verifier>>,
    /// Repeated in every response.
    pub(crate) trace_header: Option<HeaderName>,
}

impl Settings {
    /// Derives what requests need. A verifier of the same keys is kept with its cache; keys that cannot be used are
    /// reported, and the ones before stay.
    pub(crate) fn new(config: RestConfig, before: Option<&Arc<Self>>) -> Self {
        let verifier = match before.filter(|before| has_same_keys(&config, &before.config)) {
            Some(before) => before.verifier.clone(),
            None => config.verifier().unwrap_or_else(|error| {
                tracing::error!("rest: jwt-secret {error}; the keys before it stay");
                before.and_then(|before| before.verifier.clone())
            }),
        };
        Self {
            search_paths: config
                .schemas
                .iter()
                .map(|schema| (schema.clone(), search_path(schema, &config)))
                .collect(),
            pre_request: config.pre_request.as_deref().map(call_of),
            trace_header: config
                .trace_header
                .as_deref()
                .and_then(|name| HeaderName::from_bytes(name.as_bytes()).ok()),
            verifier,
            config,
        }
    }

    /// The schemas in which names are looked up, quoted.
    pub(crate) fn search_path(&self, schema: &str) -> &str {
        self.search_paths
            .iter()
            .find(|(known, _)| known == schema)
            .map_or("", |(_, path)| path)
    }
}

impl RestConfig {
    /// The verifier of `jwt_secret`, if there is one.
    ///
    /// # Errors
    /// What is wrong with the secret, without showing it.
    fn verifier(&self) -> Result<Option<Arc<Verifier>>, KeyMaterialError> {
        let Some(secret) = &self.jwt_secret else {
            return Ok(None);
        };
        let keys = JsonWebKey::parse_material(secret.expose_secret(), self.jwt_secret_is_base64)?;
        Ok(Some(Arc::new(Verifier::new(&keys, self.jwt_cache_entries)?)))
    }

    /// Whether `jwt_secret` can be used, for a start that refuses what cannot work.
    ///
    /// # Errors
    /// What is wrong with the secret, without showing it.
    pub fn check_keys(&self) -> Result<(), KeyMaterialError> {
        self.verifier().map(drop)
    }

    /// Whether a catalog read under the other configuration is the one to read under this.
    pub(crate) fn reads_same_catalog(&self, other: &Self) -> bool {
        self.schemas == other.schemas
            && self.extra_search_path == other.extra_search_path
            && self.hoisted_settings == other.hoisted_settings
    }
}

fn has_same_keys(one: &RestConfig, other: &RestConfig) -> bool {
    let text = |config: &RestConfig| {
        config
            .jwt_secret
            .as_ref()
            .map(|secret| secret.expose_secret().to_owned())
    };
    text(one) == text(other)
        && one.jwt_secret_is_base64 == other.jwt_secret_is_base64
        && one.jwt_cache_entries == other.jwt_cache_entries
}

fn search_path(schema: &str, config: &RestConfig) -> String {
    let mut names = vec![quoted(schema)];
    names.extend(config.extra_search_path.iter().map(|extra| quoted(extra)));
    names.join(", ")
}
