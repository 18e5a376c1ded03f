//! The configuration in force, with what follows from it: derived once per reload, not per request.

use std::ops::Deref;
use std::sync::Arc;

use actix_web::http::header::HeaderName;
use secrecy::ExposeSecret;
use selvedge_postgres::quote_identifier;
use selvedge_token::{JsonWebKey, KeyMaterialError, Verifier};

use super::rest_config::RestConfig;
use crate::identifier::call_statement;

/// The configuration under which a request is served; its settings are those of [`RestConfig`].
pub(crate) struct EffectiveConfig {
    pub(crate) base: RestConfig,
    /// `search_path` by exposed schema, quoted.
    search_paths: Vec<(String, String)>,
    /// SQL that calls the function that runs before each statement (`db-pre-request`).
    pub(crate) pre_request: Option<String>,
    /// Verifies tokens with `jwt_secret`.
    pub(crate) verifier: Option<Arc<Verifier>>,
    /// Header that every response repeats from its request (`server-trace-header`).
    pub(crate) trace_header: Option<HeaderName>,
}

impl Deref for EffectiveConfig {
    type Target = RestConfig;

    fn deref(&self) -> &RestConfig {
        &self.base
    }
}

impl EffectiveConfig {
    /// Derives what requests need. A verifier of the same keys is kept with its cache of verified tokens; keys that
    /// cannot be used are reported, and the ones before stay.
    pub(crate) fn new(config: RestConfig, before: Option<&Arc<Self>>) -> Self {
        // Making a verifier empties its cache of verified tokens, so it is kept unless the keys have changed.
        let verifier = match before.filter(|before| has_same_keys(&config, before)) {
            Some(before) => before.verifier.clone(),
            None => config.verifier().unwrap_or_else(|error| {
                tracing::error!("rest: jwt-secret {error}; the keys before it stay");
                before.and_then(|before| before.verifier.clone())
            }),
        };
        Self {
            search_paths: config
                .named_schemas()
                .into_iter()
                .map(|schema| {
                    let path = config.write_search_path(&schema);
                    (schema, path)
                })
                .collect(),
            pre_request: config.pre_request.as_deref().map(call_statement),
            trace_header: config
                .trace_header
                .as_deref()
                .and_then(|name| HeaderName::from_bytes(name.as_bytes()).ok()),
            verifier,
            base: config,
        }
    }

    /// Returns `search_path` for a request on a schema that is exposed by its name.
    pub(crate) fn search_path(&self, schema: &str) -> Option<&str> {
        let mut paths = self.search_paths.iter();
        let (_, path) = paths.find(|(known, _)| known == schema)?;
        Some(path)
    }
}

impl RestConfig {
    /// The verifier of `jwt_secret`, if that is set.
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

    /// Checks that `jwt_secret` can be used, so that the process can refuse to start without working keys.
    ///
    /// # Errors
    /// What is wrong with the secret, without showing it.
    pub fn check_keys(&self) -> Result<(), KeyMaterialError> {
        self.verifier().map(drop)
    }

    /// Writes `search_path` for a schema: the schema and `extra_search_path`, quoted.
    pub(crate) fn write_search_path(&self, schema: &str) -> String {
        let extra = self.extra_search_path.iter();
        let names: Vec<String> = std::iter::once(quote_identifier(schema))
            .chain(extra.map(|extra| quote_identifier(extra)))
            .collect();
        names.join(", ")
    }

    /// Whether the catalog that was read under the other configuration also serves under this one.
    pub(crate) fn reads_same_catalog(&self, other: &Self) -> bool {
        self.schemas == other.schemas
            && self.extra_search_path == other.extra_search_path
            && self.hoisted_settings == other.hoisted_settings
    }
}

/// Whether tokens are verified alike under both configurations.
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
