//! Settings in the form of PostgREST's configuration files, for `--dump-config` and `--example`.

use std::fmt::Write;

use selvedge_rest::{ErrorVerbosity, OpenApiMode, RestConfig, TransactionEnd};

use super::{LogLevel, ProcessSettings};

/// Printed in place of a secret that is set, because secrets are never printed.
const HIDDEN: &str = "(hidden)";

/// Renders all settings, one per line, in alphabetical order. A setting without a value is an empty text.
pub fn render_settings(rest: &RestConfig, process: &ProcessSettings) -> String {
    let mut lines = rest_lines(rest);
    lines.extend(process_lines(process));
    lines.sort();
    let mut text = String::new();
    for (name, value) in lines {
        let _ = writeln!(text, "{name} = {value}");
    }
    text
}

fn rest_lines(rest: &RestConfig) -> Vec<(String, String)> {
    let mut lines = vec![
        format_line(
            "client-error-verbosity",
            quote_string(error_verbosity(rest.error_verbosity)),
        ),
        format_line("db-aggregates-enabled", rest.aggregates_enabled),
        format_line("db-anon-role", quote_option(rest.anon_role.as_deref())),
        format_line("db-channel", quote_string(&rest.channel)),
        format_line("db-channel-enabled", rest.channel_enabled),
        format_line("db-config", rest.db_config),
        format_line("db-extra-search-path", quote_list(&rest.extra_search_path)),
        format_line("db-hoisted-tx-settings", quote_list(&rest.hoisted_settings)),
        format_line("db-max-rows", or_empty(rest.max_rows)),
        format_line("db-plan-enabled", rest.plan_enabled),
        format_line("db-pre-config", quote_option(rest.pre_config.as_deref())),
        format_line("db-pre-request", quote_option(rest.pre_request.as_deref())),
        format_line("db-prepared-statements", rest.prepared_statements),
        format_line("db-root-spec", quote_option(rest.root_spec.as_deref())),
        format_line("db-schemas", quote_list(&rest.schemas)),
        format_line("db-tx-end", quote_string(transaction_end(rest.transaction_end))),
        format_line("jwt-aud", quote_option(rest.jwt_audience.as_deref())),
        format_line("jwt-cache-max-entries", rest.jwt_cache_entries),
        format_line(
            "jwt-role-claim-key",
            quote_string(&rest.jwt_role_claim.to_string()),
        ),
        format_line("jwt-secret", quote_secret(rest.jwt_secret.is_some())),
        format_line("jwt-secret-is-base64", rest.jwt_secret_is_base64),
        format_line("log-query", rest.log_query),
        format_line("openapi-mode", quote_string(openapi_mode(rest.openapi_mode))),
        format_line("openapi-security-active", rest.openapi_security_active),
        format_line(
            "openapi-server-proxy-uri",
            quote_option(rest.openapi_proxy_uri.as_deref()),
        ),
        format_line(
            "server-cors-allowed-origins",
            quote_list(&rest.cors_allowed_origins),
        ),
        format_line("server-max-body-bytes", rest.body_limit_bytes),
        format_line("server-timing-enabled", rest.server_timing_enabled),
        format_line("server-trace-header", quote_option(rest.trace_header.as_deref())),
        format_line("url-use-legacy-target-names", rest.legacy_target_names),
    ];
    let app_settings = rest.app_settings.iter();
    lines.extend(app_settings.map(|(name, _)| format_line(name, quote_string(HIDDEN))));
    lines
}

fn process_lines(process: &ProcessSettings) -> Vec<(String, String)> {
    let seconds = |duration: Option<std::time::Duration>| or_empty(duration.map(|limit| limit.as_secs()));
    let path = |path: &Option<std::path::PathBuf>| {
        quote_option(path.as_ref().map(|path| path.display().to_string()).as_deref())
    };
    vec![
        format_line("admin-server-host", quote_option(process.admin_host.as_deref())),
        format_line("admin-server-port", or_empty(process.admin_port)),
        format_line("admin-server-unix-socket", path(&process.admin_socket)),
        format_line(
            "admin-server-unix-socket-mode",
            format!("{:o}", process.admin_socket_mode),
        ),
        format_line("db-pool", or_empty(process.pool_size)),
        format_line(
            "db-pool-acquisition-timeout",
            seconds(process.pool_acquisition_timeout),
        ),
        format_line("db-pool-max-idletime", seconds(process.pool_max_idle)),
        format_line("db-pool-max-lifetime", seconds(process.pool_max_lifetime)),
        format_line("db-uri", quote_secret(process.db_uri.is_some())),
        format_line("log-level", quote_string(log_level(process.log_level))),
        format_line("server-host", quote_string(&process.server_host)),
        format_line("server-port", process.server_port),
        format_line("server-reuseport", process.reuse_port),
        format_line("server-unix-socket", path(&process.unix_socket)),
        format_line(
            "server-unix-socket-mode",
            format!("{:o}", process.unix_socket_mode),
        ),
    ]
}

fn format_line(name: &str, value: impl std::fmt::Display) -> (String, String) {
    (name.to_owned(), value.to_string())
}

/// Quotes a text for PostgREST's configuration files: `$` is doubled, quotes and backslashes are escaped.
fn quote_string(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "$$");
    format!("\"{escaped}\"")
}

fn quote_option(text: Option<&str>) -> String {
    quote_string(text.unwrap_or_default())
}

fn quote_list(items: &[String]) -> String {
    quote_string(&items.join(","))
}

fn quote_secret(is_set: bool) -> String {
    quote_string(if is_set { HIDDEN } else { "" })
}

fn or_empty<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| quote_string(""), |value| value.to_string())
}

fn error_verbosity(verbosity: ErrorVerbosity) -> &'static str {
    match verbosity {
        ErrorVerbosity::Verbose => "verbose",
        ErrorVerbosity::Minimal => "minimal",
    }
}

fn openapi_mode(mode: OpenApiMode) -> &'static str {
    match mode {
        OpenApiMode::FollowPrivileges => "follow-privileges",
        OpenApiMode::IgnorePrivileges => "ignore-privileges",
        OpenApiMode::Disabled => "disabled",
    }
}

fn transaction_end(end: TransactionEnd) -> &'static str {
    match end {
        TransactionEnd::Commit => "commit",
        TransactionEnd::CommitAllowOverride => "commit-allow-override",
        TransactionEnd::Rollback => "rollback",
        TransactionEnd::RollbackAllowOverride => "rollback-allow-override",
    }
}

fn log_level(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Crit => "crit",
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_095_dumped_settings_have_no_secrets() {
        let mut rest = RestConfig::standalone();
        rest.set("jwt-secret", "hunter2-hunter2-hunter2-hunter2-hunter2")
            .unwrap();
        rest.set("jwt-role-claim-key", "$.app.role").unwrap();
        rest.set("app.settings.key", "hunter2").unwrap();
        let process = ProcessSettings {
            db_uri: Some("postgres://hunter2@x/y".into()),
            ..ProcessSettings::default()
        };

        let text = render_settings(&rest, &process);

        assert!(!text.contains("hunter2"), "{text}");
        for line in [
            "jwt-secret = \"(hidden)\"",
            "jwt-role-claim-key = \"$$.app.role\"",
            "db-schemas = \"public\"",
            "server-port = 3000",
            "server-max-body-bytes = 16777216",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }
}
