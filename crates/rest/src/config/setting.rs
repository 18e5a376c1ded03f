//! Settings by the names that PostgREST gives them: in its files (`db-schemas`), in the environment
//! (`PGRST_DB_SCHEMAS`) and in the database (`pgrst.db_schemas`).

use super::{ErrorVerbosity, OpenApiMode, RestConfig, RolePath, TransactionEnd};
use actix_web::http::header::HeaderName;

/// Settings that the database may hold. Source: REST contract §4.6.
pub const IN_DATABASE: &[&str] = &[
    "client_error_verbosity",
    "db_aggregates_enabled",
    "db_anon_role",
    "db_extra_search_path",
    "db_hoisted_tx_settings",
    "db_max_rows",
    "db_plan_enabled",
    "db_pre_config",
    "db_pre_request",
    "db_prepared_statements",
    "db_root_spec",
    "db_schemas",
    "db_tx_end",
    "jwt_aud",
    "jwt_role_claim_key",
    "jwt_secret",
    "jwt_secret_is_base64",
    "openapi_mode",
    "openapi_security_active",
    "openapi_server_proxy_uri",
    "server_cors_allowed_origins",
    "server_timing_enabled",
    "server_trace_header",
    "url_use_legacy_target_names",
];

const APP_SETTINGS: &str = "app.settings.";

/// Why a setting was not made. Never shows the value, which may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// No setting of this service has the name.
    #[error("is not known")]
    Unknown,
    /// What would have been right.
    #[error("{0}")]
    Invalid(String),
}

fn invalid(expected: &str) -> SettingError {
    SettingError::Invalid(format!("must be {expected}"))
}

impl RestConfig {
    /// Makes one setting. Words of the name may be joined by `-` or `_`; old names of the reference are understood.
    ///
    /// # Errors
    /// An unknown name, or a value that the setting cannot have; then nothing has changed.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        if let Some(setting) = name.strip_prefix(APP_SETTINGS) {
            return self.set_app_setting(setting, value);
        }
        let value = value.trim();
        match name.replace('_', "-").as_str() {
            "client-error-verbosity" => {
                self.error_verbosity = match value {
                    "verbose" => ErrorVerbosity::Verbose,
                    "minimal" => ErrorVerbosity::Minimal,
                    _ => return Err(invalid("verbose or minimal")),
                }
            }
            "db-aggregates-enabled" => self.aggregates_enabled = boolean(value)?,
            "db-anon-role" => self.anon_role = text(value),
            "db-channel" => self.channel = text(value).ok_or_else(|| invalid("the name of a channel"))?,
            "db-channel-enabled" => self.channel_enabled = boolean(value)?,
            "db-config" => self.db_config = boolean(value)?,
            "db-extra-search-path" => self.extra_search_path = list(value),
            "db-hoisted-tx-settings" => self.hoisted_settings = list(value),
            "db-max-rows" | "max-rows" => self.max_rows = rows(value)?,
            "db-plan-enabled" => self.plan_enabled = boolean(value)?,
            "db-pre-config" => self.pre_config = text(value),
            "db-pre-request" | "pre-request" => self.pre_request = text(value),
            "db-prepared-statements" => self.prepared_statements = boolean(value)?,
            "db-root-spec" | "root-spec" => self.root_spec = text(value),
            "db-schemas" | "db-schema" => {
                let schemas = list(value);
                if schemas.is_empty() {
                    return Err(invalid("at least one schema"));
                }
                self.schemas = schemas;
            }
            "db-tx-end" => {
                self.transaction_end = match value {
                    "commit" => TransactionEnd::Commit,
                    "commit-allow-override" => TransactionEnd::CommitAllowOverride,
                    "rollback" => TransactionEnd::Rollback,
                    "rollback-allow-override" => TransactionEnd::RollbackAllowOverride,
                    _ => {
                        return Err(invalid(
                            "commit, commit-allow-override, rollback or rollback-allow-override",
                        ));
                    }
                }
            }
            "jwt-aud" => self.jwt_audience = text(value),
            "jwt-cache-max-entries" => {
                self.jwt_cache_entries = value.parse().map_err(|_| invalid("a number"))?;
            }
            "jwt-role-claim-key" | "role-claim-key" => {
                self.jwt_role_claim = RolePath::parse(value)
                    .map_err(|reason| SettingError::Invalid(format!("is no path of a claim: {reason}")))?;
            }
            "jwt-secret" => self.jwt_secret = text(value).map(Into::into),
            "jwt-secret-is-base64" | "secret-is-base64" => self.jwt_secret_is_base64 = boolean(value)?,
            "log-query" => self.log_query = log_query(value)?,
            "openapi-mode" => {
                self.openapi_mode = match value {
                    "follow-privileges" => OpenApiMode::FollowPrivileges,
                    "ignore-privileges" => OpenApiMode::IgnorePrivileges,
                    "disabled" => OpenApiMode::Disabled,
                    _ => return Err(invalid("follow-privileges, ignore-privileges or disabled")),
                }
            }
            "openapi-security-active" => self.openapi_security_active = boolean(value)?,
            "openapi-server-proxy-uri" | "server-proxy-uri" => self.openapi_proxy_uri = proxy(value)?,
            "server-cors-allowed-origins" => self.cors_allowed_origins = list(value),
            "server-timing-enabled" => self.server_timing_enabled = boolean(value)?,
            "server-trace-header" => self.trace_header = header(value)?,
            "url-use-legacy-target-names" => self.legacy_target_names = boolean(value)?,
            _ => return Err(SettingError::Unknown),
        }
        Ok(())
    }

    fn set_app_setting(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        // PostgreSQL refuses other names, and with them every request
        let is_word = |word: &str| {
            word.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && word
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
        };
        if !name.split('.').all(is_word) {
            return Err(invalid("named in letters, digits and _"));
        }
        let name = format!("{APP_SETTINGS}{name}");
        match self.app_settings.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => value.clone_into(known),
            None => self.app_settings.push((name, value.to_owned())),
        }
        Ok(())
    }
}

fn boolean(value: &str) -> Result<bool, SettingError> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "on" | "1" => Ok(true),
        "false" | "f" | "no" | "off" | "0" => Ok(false),
        _ => Err(invalid("true or false")),
    }
}

/// True or false, or in the words of older files which query.
fn log_query(value: &str) -> Result<bool, SettingError> {
    match value {
        "disabled" => Ok(false),
        "main-query" => Ok(true),
        value => boolean(value),
    }
}

fn text(value: &str) -> Option<String> {
    Some(value).filter(|value| !value.is_empty()).map(str::to_owned)
}

fn list(value: &str) -> Vec<String> {
    value.split(',').filter_map(|item| text(item.trim())).collect()
}

fn rows(value: &str) -> Result<Option<u64>, SettingError> {
    if value.is_empty() {
        return Ok(None);
    }
    value
        .parse()
        .ok()
        .filter(|rows| i64::try_from(*rows).is_ok())
        .map(Some)
        .ok_or_else(|| invalid("a number of rows"))
}

fn proxy(value: &str) -> Result<Option<String>, SettingError> {
    let refused = || invalid("a URL with http or https and a host, for example https://api.example.com/");
    let Some(value) = text(value) else { return Ok(None) };
    let uri: actix_web::http::Uri = value.parse().map_err(|_| refused())?;
    let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_web && uri.host().is_some_and(|host| !host.is_empty()) && uri.query().is_none() {
        Ok(Some(value))
    } else {
        Err(refused())
    }
}

fn header(value: &str) -> Result<Option<String>, SettingError> {
    let Some(value) = text(value) else { return Ok(None) };
    HeaderName::from_bytes(value.as_bytes()).map_err(|_| invalid("the name of a header"))?;
    Ok(Some(value.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn rest_095_every_setting_of_the_database_is_known_here() {
        for name in IN_DATABASE {
            let refused = RestConfig::default().set(name, "?");
            assert_ne!(refused, Err(SettingError::Unknown), "{name}");
        }
    }

    #[test]
    fn rest_095_settings_are_made_by_the_names_of_the_reference() {
        let mut config = RestConfig::default();
        for (name, value) in [
            ("db-schemas", "api, \"odd\" ,private"),
            ("db_max_rows", "5"),
            ("db-tx-end", "rollback-allow-override"),
            ("db_aggregates_enabled", "TRUE"),
            ("db-plan-enabled", "1"),
            ("db-anon-role", ""),
            ("jwt-role-claim-key", "$.app.role"),
            ("jwt-secret", " secret "),
            ("server-trace-header", "X-Request-Id"),
            ("openapi-server-proxy-uri", "https://x.io/api"),
            ("app.settings.jwt_secret", " kept as it is "),
        ] {
            config.set(name, value).unwrap();
        }

        assert_eq!(config.schemas, ["api", "\"odd\"", "private"]);
        assert_eq!(config.max_rows, Some(5));
        assert_eq!(config.transaction_end, TransactionEnd::RollbackAllowOverride);
        assert!(config.aggregates_enabled && config.plan_enabled);
        assert_eq!(config.anon_role, None);
        assert_eq!(config.jwt_secret.unwrap().expose_secret(), "secret");
        assert_eq!(config.trace_header.as_deref(), Some("x-request-id"));
        assert_eq!(
            config.app_settings,
            [("app.settings.jwt_secret".to_owned(), " kept as it is ".to_owned())]
        );
    }

    #[test]
    fn rest_095_wrong_values_are_refused_without_being_shown() {
        for (name, value) in [
            ("db-schemas", " , "),
            ("db-max-rows", "-1"),
            ("db-max-rows", "hunter2"),
            ("db-tx-end", "hunter2"),
            ("db-plan-enabled", "hunter2"),
            ("openapi-mode", "hunter2"),
            ("openapi-server-proxy-uri", "ftp://hunter2/"),
            ("server-trace-header", "hunter2:"),
            ("jwt-role-claim-key", "$.a[hunter2]"),
            ("app.settings.a-b", "hunter2"),
            ("no-such-thing", "hunter2"),
        ] {
            let refused = RestConfig::default().set(name, value).unwrap_err();
            assert!(!refused.to_string().contains("hunter2"), "{name}: {refused}");
        }
    }
}
