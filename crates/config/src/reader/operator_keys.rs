//! Operator keys: settings that only the environment of the process may decide, and no file of the project. They concern roles with more rights than
//! `postgres`, PostgreSQL's process, and the passwords of both.
//!
//! Whoever writes a project's files has the rights of `postgres`, because migrations run with them. If they could choose another login's password, they
//! would know it, and a setting that names a program would run it as PostgreSQL's user. So these keys are read from the environment alone, and the
//! variables with such secrets are used for these keys alone.

/// Operator keys of `[selvedge]`, in alphabetical order. `database_url` is not one: `serve`, `doctor` and `--external` use an address from a file, with
/// the login that is written in it and no other password.
const OF_SELVEDGE: [&str; 7] = [
    "accept_md5_roles",
    "console_password",
    "postgres_password",
    "reserve_file_roles",
    "service_password",
    "superuser_password",
    "vault_key_file",
];

/// Further variables with the operator's secrets: addresses of databases with passwords, and passwords that PostgreSQL's images and clients read.
const SECRET_VARIABLES: [&str; 6] = [
    "DATABASE_URL",
    "PGPASSWORD",
    "PGRST_DB_URI",
    "POSTGRES_PASSWORD",
    "SUPABASE_DB_PASSWORD",
    "SUPABASE_DB_URL",
];

/// Settings of PostgreSQL, versions 15 to 18, that run programs, load libraries, read or write files by their path, open sockets, or take effect on
/// sessions of superusers only, which `postgres` may not change either.
const SERVER_SETTINGS: [&str; 42] = [
    "allow_system_table_mods",
    "archive_cleanup_command",
    "archive_command",
    "archive_library",
    "archive_mode",
    "config_file",
    "data_directory",
    "dynamic_library_path",
    "event_triggers",
    "extension_control_path",
    "extension_destdir",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "include",
    "include_dir",
    "include_if_exists",
    "jit_provider",
    "krb_server_keyfile",
    "listen_addresses",
    "local_preload_libraries",
    "log_directory",
    "log_file_mode",
    "log_filename",
    "oauth_validator_libraries",
    "primary_conninfo",
    "promote_trigger_file",
    "recovery_end_command",
    "restore_command",
    "session_preload_libraries",
    "shared_preload_libraries",
    "ssl_ca_file",
    "ssl_cert_file",
    "ssl_crl_dir",
    "ssl_crl_file",
    "ssl_dh_params_file",
    "ssl_key_file",
    "ssl_passphrase_command",
    "stats_temp_directory",
    "unix_socket_directories",
    "unix_socket_group",
    "unix_socket_permissions",
];

/// Modules with settings (`plperl.on_init`) that run code, read files, or choose the role of their workers.
const SERVER_MODULES: [&str; 19] = [
    "basic_archive",
    "citus",
    "cron",
    "extwlist",
    "pg_partman_bgw",
    "pg_tle",
    "pglogical",
    "pgsodium",
    "pgtle",
    "pljava",
    "pllua",
    "plperl",
    "plrust",
    "pltcl",
    "pltclu",
    "plv8",
    "postgis",
    "supautils",
    "vault",
];

/// Whether the dotted key is an operator key.
pub(super) fn is_operator_key(key: &str) -> bool {
    if let Some(key) = key.strip_prefix("selvedge.") {
        return OF_SELVEDGE.contains(&key);
    }
    // PostgreSQL reads the names without regard to case.
    key.strip_prefix("db.settings.")
        .is_some_and(|name| is_server_setting(&name.to_ascii_lowercase()))
}

fn is_server_setting(name: &str) -> bool {
    match name.split_once('.') {
        Some((module, _)) => SERVER_MODULES.contains(&module),
        None => SERVER_SETTINGS.contains(&name),
    }
}

/// How names of the server's own variables end that hold secrets, or addresses that may have passwords in them.
const SECRET_ENDINGS: [&str; 7] = [
    "_KEY",
    "_PASSWORD",
    "_SECRET",
    "_SECRETS",
    "_TOKEN",
    "_URL",
    "_URLS",
];

/// Whether a variable holds a secret that `env(NAME)` must not copy to another key, whose value may be shown to SQL, functions or a page.
pub(super) fn is_operator_secret(variable: &str) -> bool {
    SECRET_VARIABLES.contains(&variable)
        || variable.starts_with("SELVEDGE_") && SECRET_ENDINGS.iter().any(|ending| variable.ends_with(ending))
}

/// Whether `env(NAME)` as the value of an operator key names a variable that was set for this key: NAME ends with the key's name. Otherwise a file could
/// choose a variable whose value everybody knows, such as `LANG`.
pub(super) fn is_variable_for_key(variable: &str, key: &str) -> bool {
    variable.ends_with(&key.replace(['.', '-'], "_").to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_012_settings_that_run_programs_are_known_however_they_are_written() {
        for key in [
            "db.settings.archive_command",
            "db.settings.Shared_Preload_Libraries",
            "db.settings.include",
            "db.settings.plperl.on_init",
            "selvedge.service_password",
        ] {
            assert!(is_operator_key(key), "{key}");
        }
        for key in [
            "db.settings.work_mem",
            "db.settings.app.settings.archive_command",
            "db.settings.pg_stat_statements.max",
            "selvedge.database_url",
            "auth.email.smtp.pass",
            "service_password",
        ] {
            assert!(!is_operator_key(key), "{key}");
        }
    }

    #[test]
    fn gw_012_variables_with_passwords_of_the_server_are_known() {
        for variable in [
            "DATABASE_URL",
            "SELVEDGE_CONSOLE_PASSWORD",
            "POSTGRES_PASSWORD",
            // Who has the key of a bucket that several projects share reads the objects of all of them.
            "SELVEDGE_S3_SECRET_ACCESS_KEY",
            "SELVEDGE_NATS_PASSWORD",
            "SELVEDGE_REPLICAS_URLS",
            "SELVEDGE_IMPORT_TO_DB_URL",
        ] {
            assert!(is_operator_secret(variable), "{variable}");
        }
        for variable in [
            "SELVEDGE_VAULT_KEY_FILE",
            "SMTP_PASSWORD",
            "SUPABASE_AUTH_EXTERNAL_GITHUB_SECRET",
        ] {
            assert!(!is_operator_secret(variable), "{variable}");
        }
    }
}
