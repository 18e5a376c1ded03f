//! Settings by PostgREST's names: in its files (`db-schemas`), in the environment
//! (`PGRST_DB_SCHEMAS`) and in the database (`pgrst.db_schemas`).

use actix_web::http::header::HeaderName;

use super::claim_path::ClaimPath;
use super::rest_config::{ErrorVerbosity, OpenApiMode, RestConfig, TransactionEnd};

/// Settings that the database may hold. Source: REST contract §4.6.
pub const DATABASE_SETTINGS: &[&str] = &[
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

/// Prefix of custom settings.
const APP_SETTINGS: &str = "app.settings.";

/// Schemas that can never be exposed.
const SYSTEM_SCHEMAS: [&str; 2] = ["pg_catalog", "information_schema"];

/// Why a setting was refused. Never shows the value, which may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// No setting has this name.
    #[error("is not known")]
    Unknown,
    /// The value is invalid; the text says what is valid.
    #[error("{0}")]
    Invalid(String),
}

/// Returns the error that says what a value must be.
fn invalid_value(expected: &str) -> SettingError {
    SettingError::Invalid(format!("must be {expected}"))
}

impl RestConfig {
    /// Sets one setting by name. Words of the name may be joined by `-` or `_`; PostgREST's older names are understood.
    ///
    /// # Errors
    /// An unknown name, or a value that the setting cannot have; then nothing has changed.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        if let Some(setting) = name.strip_prefix(APP_SETTINGS) {
            return self.set_app_setting(setting, value);
        }
        let name = name.replace('_', "-");
        let value = value.trim();
        // Every name belongs to one group, so the first group with that name decides.
        for set_group in [Self::set_database, Self::set_jwt, Self::set_http] {
            match set_group(self, &name, value) {
                Err(SettingError::Unknown) => {}
                known => return known,
            }
        }
        Err(SettingError::Unknown)
    }

    /// `db-*`: what is exposed, and how transactions run.
    fn set_database(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        match name {
            "db-aggregates-enabled" => self.aggregates_enabled = parse_boolean(value)?,
            "db-anon-role" => self.anon_role = parse_text(value),
            "db-channel" => {
                self.channel = parse_text(value).ok_or_else(|| invalid_value("the name of a channel"))?;
            }
            "db-channel-enabled" => self.channel_enabled = parse_boolean(value)?,
            "db-config" => self.db_config = parse_boolean(value)?,
            "db-extra-search-path" => self.extra_search_path = parse_list(value),
            "db-hoisted-tx-settings" => self.hoisted_settings = parse_list(value),
            "db-max-rows" | "max-rows" => self.max_rows = parse_max_rows(value)?,
            "db-plan-enabled" => self.plan_enabled = parse_boolean(value)?,
            "db-pre-config" => self.pre_config = parse_text(value),
            "db-pre-request" | "pre-request" => self.pre_request = parse_text(value),
            "db-prepared-statements" => self.prepared_statements = parse_boolean(value)?,
            "db-root-spec" | "root-spec" => self.root_spec = parse_text(value),
            "db-schemas" | "db-schema" => self.schemas = parse_schemas(value)?,
            "db-tx-end" => self.transaction_end = parse_transaction_end(value)?,
            _ => return Err(SettingError::Unknown),
        }
        Ok(())
    }

    /// `jwt-*`: how tokens are verified, and where the role is in them.
    fn set_jwt(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        match name {
            "jwt-aud" => self.jwt_audience = parse_audience(value)?,
            "jwt-cache-max-entries" => {
                self.jwt_cache_entries = value.parse().map_err(|_| invalid_value("a number"))?;
            }
            "jwt-role-claim-key" | "role-claim-key" => {
                self.jwt_role_claim = ClaimPath::parse(value)
                    .map_err(|reason| SettingError::Invalid(format!("is no path of a claim: {reason}")))?;
            }
            "jwt-secret" => self.jwt_secret = parse_text(value).map(Into::into),
            "jwt-secret-is-base64" | "secret-is-base64" => {
                self.jwt_secret_is_base64 = parse_boolean(value)?;
            }
            _ => return Err(SettingError::Unknown),
        }
        Ok(())
    }

    /// Sets what clients see of the server: errors, the root document, headers.
    fn set_http(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        match name {
            "client-error-verbosity" => self.error_verbosity = parse_error_verbosity(value)?,
            "log-query" => self.log_query = parse_log_query(value)?,
            "openapi-mode" => self.openapi_mode = parse_openapi_mode(value)?,
            "openapi-security-active" => self.openapi_security_active = parse_boolean(value)?,
            "openapi-server-proxy-uri" | "server-proxy-uri" => {
                self.openapi_proxy_uri = parse_proxy_uri(value)?;
            }
            "server-cors-allowed-origins" => self.cors_allowed_origins = parse_list(value),
            "server-max-body-bytes" => self.body_limit_bytes = parse_body_limit(value)?,
            "server-timing-enabled" => self.server_timing_enabled = parse_boolean(value)?,
            "server-trace-header" => self.trace_header = parse_header_name(value)?,
            "url-use-legacy-target-names" => self.legacy_target_names = parse_boolean(value)?,
            _ => return Err(SettingError::Unknown),
        }
        Ok(())
    }

    /// `app.settings.*`: custom settings for SQL to read.
    fn set_app_setting(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        // PostgreSQL refuses to set other names, so that each request would fail.
        let is_word = |word: &str| {
            word.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && word
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
        };
        if !name.split('.').all(is_word) {
            return Err(invalid_value("named in letters, digits and _"));
        }
        let name = format!("{APP_SETTINGS}{name}");
        match self.app_settings.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => value.clone_into(known),
            None => self.app_settings.push((name, value.to_owned())),
        }
        Ok(())
    }
}

/// True or false, in the words that PostgREST and PostgreSQL use.
fn parse_boolean(value: &str) -> Result<bool, SettingError> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "on" | "1" => Ok(true),
        "false" | "f" | "no" | "off" | "0" => Ok(false),
        _ => Err(invalid_value("true or false")),
    }
}

/// True or false; `main-query` and `disabled` in files of PostgREST 13 and older.
fn parse_log_query(value: &str) -> Result<bool, SettingError> {
    match value {
        "disabled" => Ok(false),
        "main-query" => Ok(true),
        value => parse_boolean(value),
    }
}

/// A text; `None` if it is empty.
fn parse_text(value: &str) -> Option<String> {
    Some(value).filter(|value| !value.is_empty()).map(str::to_owned)
}

/// A list with commas between the items; empty items are left out.
fn parse_list(value: &str) -> Vec<String> {
    value
        .split(',')
        .filter_map(|item| parse_text(item.trim()))
        .collect()
}

/// A number of rows that fits a LIMIT; `None`, without limit, if it is empty.
fn parse_max_rows(value: &str) -> Result<Option<u64>, SettingError> {
    if value.is_empty() {
        return Ok(None);
    }
    value
        .parse()
        .ok()
        .filter(|rows| i64::try_from(*rows).is_ok())
        .map(Some)
        .ok_or_else(|| invalid_value("a number of rows"))
}

/// A size in bytes, at least 1. The setting is ours: PostgREST leaves the limit to the proxy in front of it.
fn parse_body_limit(value: &str) -> Result<usize, SettingError> {
    value
        .parse()
        .ok()
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| invalid_value("a number of bytes, at least 1"))
}

/// An absolute URL without a query, as clients would reach the service through a proxy.
fn parse_proxy_uri(value: &str) -> Result<Option<String>, SettingError> {
    let refused =
        || invalid_value("a URL with http or https and a host, for example https://api.example.com/");
    let Some(value) = parse_text(value) else {
        return Ok(None);
    };
    let uri: actix_web::http::Uri = value.parse().map_err(|_| refused())?;
    let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_web && uri.host().is_some_and(|host| !host.is_empty()) && uri.query().is_none() {
        Ok(Some(value))
    } else {
        Err(refused())
    }
}

/// The name of a header, in lower case.
fn parse_header_name(value: &str) -> Result<Option<String>, SettingError> {
    let Some(value) = parse_text(value) else {
        return Ok(None);
    };
    HeaderName::from_bytes(value.as_bytes()).map_err(|_| invalid_value("the name of a header"))?;
    Ok(Some(value.to_ascii_lowercase()))
}

/// Names of schemas, at least one: the first is the default schema.
fn parse_schemas(value: &str) -> Result<Vec<String>, SettingError> {
    let schemas = parse_list(value);
    if schemas.is_empty() {
        return Err(invalid_value("at least one schema"));
    }
    // Their functions could be called by every client, because `pg_catalog` grants EXECUTE to PUBLIC.
    if schemas
        .iter()
        .any(|schema| SYSTEM_SCHEMAS.contains(&schema.as_str()))
    {
        return Err(invalid_value(
            "schemas other than pg_catalog and information_schema",
        ));
    }
    Ok(schemas)
}

/// An audience: a string, which has to be a URI if it holds a colon (`StringOrURI`, RFC 7519 §2).
fn parse_audience(value: &str) -> Result<Option<String>, SettingError> {
    if value.contains(':') && !is_uri(value) {
        return Err(invalid_value("a string without a colon, or a valid URI"));
    }
    Ok(parse_text(value))
}

/// Whether a text has the form of a URI with a scheme, by the characters that RFC 3986 allows.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let mut bytes = rest.bytes();
    while let Some(byte) = bytes.next() {
        let is_allowed = match byte {
            b'%' => [bytes.next(), bytes.next()]
                .iter()
                .all(|digit| digit.is_some_and(|digit| digit.is_ascii_hexdigit())),
            byte => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte),
        };
        if !is_allowed {
            return false;
        }
    }
    is_scheme && !rest.is_empty()
}

/// A value of `db-tx-end`.
fn parse_transaction_end(value: &str) -> Result<TransactionEnd, SettingError> {
    match value {
        "commit" => Ok(TransactionEnd::Commit),
        "commit-allow-override" => Ok(TransactionEnd::CommitAllowOverride),
        "rollback" => Ok(TransactionEnd::Rollback),
        "rollback-allow-override" => Ok(TransactionEnd::RollbackAllowOverride),
        _ => Err(invalid_value(
            "commit, commit-allow-override, rollback or rollback-allow-override",
        )),
    }
}

/// A value of `client-error-verbosity`.
fn parse_error_verbosity(value: &str) -> Result<ErrorVerbosity, SettingError> {
    match value {
        "verbose" => Ok(ErrorVerbosity::Verbose),
        "minimal" => Ok(ErrorVerbosity::Minimal),
        _ => Err(invalid_value("verbose or minimal")),
    }
}

/// A value of `openapi-mode`.
fn parse_openapi_mode(value: &str) -> Result<OpenApiMode, SettingError> {
    match value {
        "follow-privileges" => Ok(OpenApiMode::FollowPrivileges),
        "ignore-privileges" => Ok(OpenApiMode::IgnorePrivileges),
        "disabled" => Ok(OpenApiMode::Disabled),
        _ => Err(invalid_value("follow-privileges, ignore-privileges or disabled")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn rest_095_every_setting_that_the_database_may_hold_is_known() {
        for name in DATABASE_SETTINGS {
            let refused = RestConfig::default().set(name, "?");
            assert_ne!(refused, Err(SettingError::Unknown), "{name}");
        }
    }

    #[test]
    fn rest_095_settings_are_set_by_the_names_of_postgrest() {
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
            ("jwt-aud", "urn:example:a%20b"),
            ("server-max-body-bytes", "1048576"),
            ("app.settings.jwt_secret", " kept as it is "),
        ] {
            config.set(name, value).unwrap();
        }

        assert_eq!(config.schemas, ["api", "\"odd\"", "private"]);
        assert_eq!(config.max_rows, Some(5));
        assert_eq!(config.jwt_audience.as_deref(), Some("urn:example:a%20b"));
        assert_eq!(config.body_limit_bytes, 1_048_576);
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
    fn rest_095_errors_for_wrong_values_do_not_show_the_value() {
        for (name, value) in [
            ("db-schemas", " , "),
            ("db-schemas", "hunter2, pg_catalog"),
            ("db-schemas", "information_schema"),
            ("jwt-aud", "hunter2://%%$$^^.com"),
            ("jwt-aud", "1hunter2:x"),
            ("server-max-body-bytes", "0"),
            ("server-max-body-bytes", "hunter2"),
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
