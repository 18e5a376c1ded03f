//! The project's keys: configured, well-known (in development) or newly generated.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use secrecy::{ExposeSecret, SecretString};
use selvedge_config::Config;
use selvedge_database::home::is_home;
use selvedge_token::{
    ApiKeys, JsonWebKey, KeyRing, development, generate_jwt_secret, generate_publishable_key,
    generate_secret_key,
};

use super::home_keys::with_home_keys;
use super::signing_keys;

/// The shortest secret of `serve`: HS256 is as strong as a key of this length (RFC 7518 §3.2), and who has one token can try
/// secrets as fast as hardware allows.
const SECRET_BYTES: usize = 32;
/// The shortest secret of `start`, as in the Supabase CLI.
const DEVELOPMENT_SECRET_BYTES: usize = 16;

/// Every key of a project. Debug output hides all of them.
#[derive(Debug, Clone)]
pub struct KeySet {
    /// Signs legacy keys and signed URLs (HS256).
    pub jwt_secret: SecretString,
    /// Legacy key of role anon.
    pub anon_key: SecretString,
    /// Legacy key of role service_role.
    pub service_role_key: SecretString,
    /// Opaque key of role anon.
    pub publishable_key: Option<SecretString>,
    /// Opaque key of role service_role.
    pub secret_key: Option<SecretString>,
    /// Keys of user tokens; the first signs, all verify. Empty: user tokens are signed with `jwt_secret`.
    pub signing_keys: Vec<JsonWebKey>,
}

impl KeySet {
    /// Returns the keys for `start`. A key that is not configured gets the Supabase CLI's well-known value, so that existing
    /// `.env.local` files work. If `auth.signing_keys_path` is set, the first key in that file signs the legacy keys anon and
    /// service_role, as in the CLI.
    ///
    /// # Errors
    /// When the file of signing keys is malformed, or a secret is too short.
    pub fn for_development(config: &Config) -> Result<Self> {
        let keys = &config.auth.keys;
        let secret = keys
            .jwt_secret
            .clone()
            .unwrap_or_else(|| development::JWT_SECRET.into());
        let own_keys = signing_keys::read(config)?;
        let signs_legacy_keys = own_keys.as_ref().is_some_and(|keys| !keys.is_empty());
        let publishable = keys.publishable_key.clone();
        let secret_key = keys.secret_key.clone();
        let mut set = Self {
            publishable_key: Some(publishable.unwrap_or_else(|| development::publishable_key().into())),
            secret_key: Some(secret_key.unwrap_or_else(|| development::secret_key().into())),
            anon_key: legacy_key(keys.anon_key.as_ref(), &secret, "anon"),
            service_role_key: legacy_key(keys.service_role_key.as_ref(), &secret, "service_role"),
            jwt_secret: secret,
            signing_keys: own_keys.unwrap_or_else(|| vec![development::signing_key()]),
        };
        if signs_legacy_keys {
            let ring = set.ring()?;
            if keys.anon_key.is_none() {
                set.anon_key = development::sign_legacy_key(&ring, "anon")?.into();
            }
            if keys.service_role_key.is_none() {
                set.service_role_key = development::sign_legacy_key(&ring, "service_role")?.into();
            }
        }
        set.check_secret_length(DEVELOPMENT_SECRET_BYTES)
    }

    /// Returns the keys for `serve`. The JWT secret must be configured, and no key may have a well-known value, because
    /// everybody could sign tokens with it.
    ///
    /// # Errors
    /// When a key is missing or well known; the message contains the name of its variable, but not its value.
    pub fn for_production(config: &Config) -> Result<Self> {
        let keys = &config.auth.keys;
        if let Some(path) = signing_keys::find_missing_file(config) {
            bail!(
                "auth.signing_keys_path names {}, which is not there\n  make it with:  selvedge keys rotate",
                path.display()
            );
        }
        let Some(jwt_secret) = keys.jwt_secret.clone() else {
            bail!(
                "`selvedge serve` needs secrets of its own: SUPABASE_AUTH_JWT_SECRET (auth.jwt_secret) is \
                 not set\n  make a complete set with:  selvedge keys --generate"
            );
        };
        let set = Self {
            anon_key: legacy_key(keys.anon_key.as_ref(), &jwt_secret, "anon"),
            service_role_key: legacy_key(keys.service_role_key.as_ref(), &jwt_secret, "service_role"),
            publishable_key: keys.publishable_key.clone(),
            secret_key: keys.secret_key.clone(),
            jwt_secret,
            signing_keys: signing_keys::read(config)?.unwrap_or_default(),
        };
        let mut public = set.list_well_known();
        // Requests signed with this key pair run as service_role, so a well-known pair would expose all objects.
        let s3 = &config.selvedge.s3_protocol;
        if s3
            .access_key_id
            .as_deref()
            .is_some_and(development::is_well_known)
            || s3
                .secret_access_key
                .as_ref()
                .is_some_and(|secret| development::is_well_known(secret.expose_secret()))
        {
            public.push("SELVEDGE_S3_PROTOCOL_SECRET_ACCESS_KEY");
        }
        if !public.is_empty() {
            bail!(
                "`selvedge serve` refuses keys that everybody knows: {} {} the development value\n  make a \
                 complete set with:  selvedge keys --generate",
                public.join(", "),
                if public.len() == 1 { "has" } else { "have" }
            );
        }
        set.check_secret_length(SECRET_BYTES)
    }

    /// Returns the keys for a production database with a home: those that are configured, and the home's.
    ///
    /// # Errors
    /// As [`KeySet::for_production`], and when neither has a key.
    pub fn for_home(config: &Config) -> Result<Self> {
        let (config, signing_keys) = with_home_keys(config)?;
        let mut set = Self::for_production(&config)?;
        if config.auth.signing_keys_path.is_none() {
            set.signing_keys = signing_keys;
        }
        Ok(set)
    }

    /// Returns the keys of the project's running instance, for commands: those of its home, or those of `start`.
    ///
    /// # Errors
    /// As [`KeySet::for_home`] and [`KeySet::for_development`].
    pub fn of_instance(config: &Config) -> Result<Self> {
        match is_home(config) {
            true => Self::for_home(config),
            false => Self::for_development(config),
        }
    }

    /// A newly generated set.
    pub fn generate() -> Self {
        let jwt_secret: SecretString = generate_jwt_secret().into();
        Self {
            anon_key: legacy_key(None, &jwt_secret, "anon"),
            service_role_key: legacy_key(None, &jwt_secret, "service_role"),
            publishable_key: Some(generate_publishable_key().into()),
            secret_key: Some(generate_secret_key().into()),
            signing_keys: Vec::new(),
            jwt_secret,
        }
    }

    /// The keys that sign and verify tokens.
    ///
    /// # Errors
    /// A signing key that is not a usable private key.
    pub fn ring(&self) -> Result<Arc<KeyRing>> {
        let ring = KeyRing::new(self.jwt_secret.expose_secret().as_bytes(), &self.signing_keys)
            .context("auth.signing_keys_path holds a key that cannot be used")?;
        Ok(Arc::new(ring))
    }

    /// The opaque keys (`sb_publishable_…`, `sb_secret_…`) that the gateway accepts.
    pub fn api_keys(&self) -> Arc<ApiKeys> {
        let list = |key: &Option<SecretString>| key.iter().cloned().collect();
        Arc::new(ApiKeys::new(list(&self.publishable_key), list(&self.secret_key)))
    }

    /// Returns the key for browsers: the publishable one, or the legacy anon key if there is none.
    pub fn browser_key(&self) -> &str {
        self.publishable_key
            .as_ref()
            .unwrap_or(&self.anon_key)
            .expose_secret()
    }

    /// Refuses a secret that is shorter than `least` bytes.
    fn check_secret_length(self, least: usize) -> Result<Self> {
        if self.jwt_secret.expose_secret().len() < least {
            bail!("auth.jwt_secret is too short: it needs at least {least} characters");
        }
        Ok(self)
    }

    /// The names of the settings whose values are well-known.
    fn list_well_known(&self) -> Vec<&'static str> {
        let named = [
            ("SUPABASE_AUTH_JWT_SECRET", Some(&self.jwt_secret)),
            ("SUPABASE_AUTH_ANON_KEY", Some(&self.anon_key)),
            ("SUPABASE_AUTH_SERVICE_ROLE_KEY", Some(&self.service_role_key)),
            ("SUPABASE_AUTH_PUBLISHABLE_KEY", self.publishable_key.as_ref()),
            ("SUPABASE_AUTH_SECRET_KEY", self.secret_key.as_ref()),
        ];
        let mut names: Vec<&str> = named
            .into_iter()
            .filter(|(_, key)| key.is_some_and(|key| development::is_well_known(key.expose_secret())))
            .map(|(name, _)| name)
            .collect();
        if self.signing_keys.iter().any(development::is_development_key) {
            names.push("auth.signing_keys_path");
        }
        names
    }
}

/// The configured legacy key, or one that is derived from the JWT secret.
fn legacy_key(given: Option<&SecretString>, jwt_secret: &SecretString, role: &str) -> SecretString {
    given
        .cloned()
        .unwrap_or_else(|| development::derive_legacy_key(jwt_secret.expose_secret(), role).into())
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use selvedge_config::{Environment, Flags, Project};
    use selvedge_token::{KeyAlgorithm, generate_signing_key};

    use super::*;

    fn config<const N: usize>(variables: [(&str, &str); N]) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::find(None, folder.path()).unwrap();
        let environment: Environment = variables.into_iter().collect();
        Config::load_project(project, environment, &Flags::default())
            .unwrap()
            .config
    }

    #[test]
    fn gw_002_start_uses_the_well_known_keys() {
        let keys = KeySet::for_development(&config([] as [(&str, &str); 0])).unwrap();

        assert_eq!(keys.jwt_secret.expose_secret(), development::JWT_SECRET);
        assert_eq!(keys.anon_key.expose_secret(), development::anon_key());
        assert_eq!(keys.browser_key(), development::publishable_key());
    }

    #[test]
    fn gw_032_the_first_signing_key_signs_the_legacy_keys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let file = [generate_signing_key(KeyAlgorithm::Es256)];
        std::fs::write(&path, serde_json::to_vec(&file).unwrap()).unwrap();
        let path = path.display().to_string();

        let keys = KeySet::for_development(&config([
            ("SUPABASE_AUTH_SIGNING_KEYS_PATH", &*path),
            ("SUPABASE_AUTH_SERVICE_ROLE_KEY", "own-key"),
        ]))
        .unwrap();

        let anon = keys.anon_key.expose_secret();
        let header = base64::prelude::BASE64_URL_SAFE_NO_PAD.decode(anon.split('.').next().unwrap());
        let header = String::from_utf8(header.unwrap()).unwrap();
        assert!(header.contains("ES256") && header.contains("kid"), "{header}");
        assert_eq!(keys.ring().unwrap().verify(anon).unwrap().role(), Some("anon"));
        assert_eq!(keys.service_role_key.expose_secret(), "own-key");
    }

    #[test]
    fn gw_002_serve_refuses_well_known_keys_and_names_their_variables() {
        let own = "a-secret-that-nobody-else-knows-12345";
        let public = [
            ("SUPABASE_AUTH_JWT_SECRET", development::JWT_SECRET.to_owned()),
            ("SUPABASE_AUTH_ANON_KEY", development::anon_key()),
            ("SUPABASE_AUTH_SERVICE_ROLE_KEY", development::service_role_key()),
            ("SUPABASE_AUTH_PUBLISHABLE_KEY", development::publishable_key()),
            ("SUPABASE_AUTH_SECRET_KEY", development::secret_key()),
        ];
        for (name, value) in &public {
            let secret = if *name == "SUPABASE_AUTH_JWT_SECRET" {
                value.as_str()
            } else {
                own
            };
            let refused =
                KeySet::for_production(&config([("SUPABASE_AUTH_JWT_SECRET", secret), (*name, value)]));
            let message = refused.unwrap_err().to_string();
            assert!(
                message.contains(name) && message.contains("keys --generate"),
                "{message}"
            );
            assert!(!message.contains(value.as_str()), "the value must not be printed");
        }
    }

    #[test]
    fn gw_002_serve_needs_a_jwt_secret_and_accepts_a_generated_set() {
        assert!(KeySet::for_production(&config([] as [(&str, &str); 0])).is_err());
        let generated = KeySet::generate();

        let accepted = KeySet::for_production(&config([
            ("SUPABASE_AUTH_JWT_SECRET", generated.jwt_secret.expose_secret()),
            (
                "SUPABASE_AUTH_SECRET_KEY",
                generated.secret_key.as_ref().unwrap().expose_secret(),
            ),
        ]))
        .unwrap();

        assert_eq!(
            accepted.anon_key.expose_secret(),
            generated.anon_key.expose_secret()
        );
        let claims = accepted
            .ring()
            .unwrap()
            .verify(accepted.anon_key.expose_secret())
            .unwrap();
        assert_eq!(claims.role(), Some("anon"));
    }

    #[test]
    fn gw_002_jwt_secrets_under_32_characters_are_refused_in_production_and_under_16_everywhere() {
        let with = |secret| config([("SUPABASE_AUTH_JWT_SECRET", secret)]);
        let of_31 = "a-secret-of-thirty-one-letters!";

        assert_eq!(of_31.len(), 31);
        assert!(KeySet::for_development(&with("short")).is_err());
        assert!(KeySet::for_development(&with(of_31)).is_ok());
        let refusal = KeySet::for_production(&with(of_31)).expect_err("refused");
        assert!(
            refusal.to_string().contains("at least 32 characters"),
            "{refusal}"
        );
        assert!(KeySet::for_production(&with("a-secret-of-thirty-two-letters!!")).is_ok());
    }
}
