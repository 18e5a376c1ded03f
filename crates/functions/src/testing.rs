//! Values for unit tests.

use std::path::Path;
use std::sync::Arc;

use selvedge_token::{ApiKeys, KeyRing, development};

use crate::config::{DenoSearch, EnvironmentConfig, FunctionKeys, FunctionsConfig, Policy, WorkerLimits};

/// The configuration of a project in that folder.
pub(crate) fn config(project: &Path) -> FunctionsConfig {
    FunctionsConfig {
        project: project.to_path_buf(),
        repository: project.to_path_buf(),
        module_folders: Vec::new(),
        protected: vec![project.join(".selvedge")],
        folder: project.join("functions"),
        state_folder: project.join(".selvedge/functions"),
        cache_folder: project.join(".selvedge/functions/cache"),
        deno: DenoSearch::default(),
        declared: Vec::new(),
        policy: Policy::PerWorker,
        reload: true,
        workers_per_function: 1,
        environment: EnvironmentConfig::default(),
        deno_environment: Vec::new(),
        import_map: None,
        skips_jwt: false,
        announces_calls: false,
        inspect: None,
        trusted_proxies: 0,
        limits: WorkerLimits::default(),
    }
}

/// The well-known development keys.
pub(crate) fn keys() -> FunctionKeys {
    FunctionKeys {
        ring: Arc::new(KeyRing::new(development::JWT_SECRET.as_bytes(), &[]).expect("a usable secret")),
        api_keys: Arc::new(ApiKeys::new(
            vec![development::publishable_key().into()],
            vec![development::secret_key().into()],
        )),
        anon_key: development::anon_key().into(),
        service_role_key: development::service_role_key().into(),
    }
}
