//! Configuration → settings of the functions service.

use std::path::PathBuf;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use selvedge_config::{Config, FunctionPolicy, FunctionSection, Mode, with_login};
use selvedge_database::capacity::available_cores;
use selvedge_database::instance;
use selvedge_functions::{
    DeclaredFunction, DenoSearch, EnvironmentConfig, FunctionKeys, FunctionsConfig, Inspect, Policy,
    WorkerLimits, list_function_folders,
};
use selvedge_keys::KeySet;
use selvedge_memory::MemoryLimit;
use selvedge_postgres::migrate::join_stars;
use selvedge_project_trust::{Program, list_refused};
use selvedge_token::KeyRing;
use serde_json::json;

/// The settings of the functions service.
pub(in crate::services) fn functions_config(
    config: &Config,
    keys: &KeySet,
    ring: &KeyRing,
    mode: Mode,
) -> FunctionsConfig {
    let (section, own) = (&config.functions, &config.selvedge.functions);
    let is_development = mode == Mode::Development;
    let state_folder = config.selvedge.data_dir.join("functions");
    FunctionsConfig {
        project: config.project.folder.clone(),
        repository: config.project.repository.clone(),
        protected: list_protected_paths(config),
        module_folders: own.module_folders.clone(),
        folder: config.project.folder.join("functions"),
        cache_folder: own
            .cache_dir
            .clone()
            .unwrap_or_else(|| state_folder.join("cache")),
        state_folder,
        deno: deno_search(config),
        declared: section.functions.iter().map(declared_function).collect(),
        policy: worker_policy(section.policy),
        reload: own.reload.unwrap_or(is_development),
        workers_per_function: match own.workers {
            Some(workers) => workers,
            None if is_development => 1,
            None => available_cores(),
        },
        environment: EnvironmentConfig {
            secrets: section.secrets.clone(),
            env_file: section.env_file.clone(),
            platform: platform_variables(config, keys, ring, mode),
        },
        deno_environment: section.deno_environment.clone(),
        import_map: section.import_map.clone(),
        skips_jwt: section.no_verify_jwt,
        announces_calls: section.announces_calls,
        inspect: section.inspect.map(|mode| Inspect {
            port: section.inspector_port,
            mode,
        }),
        trusted_proxies: config.selvedge.limits.trusted_proxies,
        limits: fit_into_memory(own.limits.clone(), config),
    }
}

/// A worker takes at most a quarter of the memory: its process counts towards the limit of the control group. Says so where it lowers a value.
fn fit_into_memory(limits: WorkerLimits, config: &Config) -> WorkerLimits {
    let quarter =
        MemoryLimit::find(config.selvedge.limits.memory).map_or(u64::MAX, |limit| limit.bytes() / 4);
    if quarter < limits.memory_bytes
        && !list_function_folders(&config.project.folder.join("functions")).is_empty()
    {
        tracing::warn!(
            memory_bytes = limits.memory_bytes,
            lowered_to_bytes = quarter,
            "functions get less memory than [selvedge.functions] memory says: a quarter of the limit of the control group or of [selvedge.limits] memory"
        );
    }
    WorkerLimits {
        memory_bytes: limits.memory_bytes.min(quarter),
        ..limits
    }
}

fn deno_search(config: &Config) -> DenoSearch {
    DenoSearch {
        given: config.selvedge.functions.deno.clone(),
        path: config.functions.path.clone(),
        folders: vec![config.project.folder.clone()],
        refused: list_refused(config, Program::Deno),
    }
}

fn worker_policy(policy: FunctionPolicy) -> Policy {
    match policy {
        FunctionPolicy::PerWorker => Policy::PerWorker,
        FunctionPolicy::Oneshot => Policy::Oneshot,
    }
}

/// What no function may import: passwords, keys and data of the project.
fn list_protected_paths(config: &Config) -> Vec<PathBuf> {
    let project = &config.project;
    let files = [
        project.file.clone(),
        config.auth.signing_keys_path.clone(),
        config.functions.env_file.clone(),
        config.api.tls.as_ref().map(|tls| tls.key.clone()),
    ];
    [
        config.selvedge.data_dir.clone(),
        project.folder.join("config.toml"),
    ]
    .into_iter()
    .chain(files.into_iter().flatten())
    .collect()
}

/// The keys with which calls of functions are checked.
pub(in crate::services) fn function_keys(keys: &KeySet, ring: &Arc<KeyRing>) -> FunctionKeys {
    FunctionKeys {
        ring: Arc::clone(ring),
        api_keys: keys.api_keys(),
        anon_key: keys.anon_key.clone(),
        service_role_key: keys.service_role_key.clone(),
    }
}

fn declared_function(section: &FunctionSection) -> DeclaredFunction {
    DeclaredFunction {
        slug: section.slug.clone(),
        enabled: section.enabled,
        verify_jwt: section.verify_jwt,
        import_map: section.import_map.clone(),
        entrypoint: section.entrypoint.clone(),
        static_files: section
            .static_files
            .iter()
            .map(|pattern| join_stars(pattern))
            .collect(),
        env: section.env.clone(),
    }
}

/// The variables that the platform gives to every function, such as `SUPABASE_URL`. Source: functions contract §2.
fn platform_variables(
    config: &Config,
    keys: &KeySet,
    ring: &KeyRing,
    mode: Mode,
) -> Vec<(String, SecretString)> {
    let database_url = match mode {
        Mode::Production => postgres_url(config),
        Mode::Development => Some(instance::database_url(config.db.port, &config.db.name)),
    };
    let named = |key: &Option<SecretString>| {
        let key = key.as_ref().map(ExposeSecret::expose_secret);
        key.map_or_else(|| json!({}), |key| json!({ "default": key }))
            .to_string()
    };
    let variables = [
        ("SUPABASE_URL", function_url(config, mode)),
        ("SUPABASE_ANON_KEY", keys.anon_key.expose_secret().to_owned()),
        (
            "SUPABASE_SERVICE_ROLE_KEY",
            keys.service_role_key.expose_secret().to_owned(),
        ),
        ("SUPABASE_JWKS", ring.public_jwks().to_string()),
        ("SUPABASE_PUBLISHABLE_KEYS", named(&keys.publishable_key)),
        ("SUPABASE_SECRET_KEYS", named(&keys.secret_key)),
    ];
    variables
        .into_iter()
        .chain(database_url.map(|url| ("SUPABASE_DB_URL", url)))
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect()
}

/// In production functions get the login of `postgres`, and only where `[selvedge.functions] database_access` says so: whoever may
/// change a function could otherwise change the whole database.
fn postgres_url(config: &Config) -> Option<String> {
    let section = &config.selvedge;
    if !section.functions.database_access {
        return None;
    }
    let url = section.database_url.as_ref()?.expose_secret();
    let password = section.postgres_password.as_ref()?.expose_secret();
    Some(with_login(url, "postgres", password))
}

/// The API's URL as functions reach it: on this machine in development, the public one in production, because functions
/// also make links with it.
pub(super) fn function_url(config: &Config, mode: Mode) -> String {
    if mode == Mode::Development && config.api.tls.is_none() {
        format!("http://127.0.0.1:{}", config.api.port)
    } else {
        config.api_url()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use selvedge_config::{Environment, Flags, Project};

    use super::*;

    #[test]
    fn functions_get_the_login_of_postgres_in_production_only_where_the_project_says_so() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.toml"), "project_id = \"x\"\n").unwrap();
        let project = Project::find(Some(folder.path()), Path::new("/")).unwrap();
        let loaded = Config::load_project(project, Environment::default(), &Flags::default()).unwrap();
        let mut config = loaded.config;
        config.selvedge.database_url = Some("postgresql://authenticator:of-the-services@db:5432/app".into());
        config.selvedge.postgres_password = Some("of-postgres".into());

        assert_eq!(postgres_url(&config), None);
        config.selvedge.functions.database_access = true;
        assert_eq!(
            postgres_url(&config).as_deref(),
            Some("postgresql://postgres:of-postgres@db:5432/app")
        );
        // Its own password or none: the services' one is nobody else's.
        config.selvedge.postgres_password = None;
        assert_eq!(postgres_url(&config), None);
    }
}
