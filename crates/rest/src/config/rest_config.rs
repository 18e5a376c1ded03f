//! Settings of the service, filled by the server's loader. Names and defaults follow the Supabase CLI.

use std::time::Duration;

use secrecy::SecretString;

use super::claim_path::ClaimPath;

/// How a transaction ends, and whether `Prefer: tx=` may change that (`db-tx-end`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransactionEnd {
    /// Commit; `Prefer: tx=` is ignored.
    #[default]
    Commit,
    /// Commit unless the client asks for a rollback.
    CommitAllowOverride,
    /// Roll back; `Prefer: tx=` is ignored.
    Rollback,
    /// Roll back unless the client asks for a commit.
    RollbackAllowOverride,
}

impl TransactionEnd {
    /// Whether `Prefer: tx=` has any effect.
    pub fn allows_override(self) -> bool {
        matches!(self, Self::CommitAllowOverride | Self::RollbackAllowOverride)
    }

    /// Whether a request without `Prefer: tx=` is rolled back.
    pub fn rolls_back(self) -> bool {
        matches!(self, Self::Rollback | Self::RollbackAllowOverride)
    }
}

/// What the root document describes (`openapi-mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenApiMode {
    /// Only what the caller's role may use.
    #[default]
    FollowPrivileges,
    /// The whole catalog of the active schema.
    IgnorePrivileges,
    /// There is no root document: PGRST126.
    Disabled,
}

/// How much of an error the client sees (`client-error-verbosity`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ErrorVerbosity {
    /// The body holds code, message, details and hint.
    #[default]
    Verbose,
    /// The body holds code and message only.
    Minimal,
}

/// Settings of `/rest/v1`.
#[derive(Debug, Clone)]
pub struct RestConfig {
    /// Whether the service runs without the gateway, as `selvedge rest` does: it then verifies tokens with `jwt_secret`
    /// only, answers CORS and logs requests itself. Default false.
    pub standalone: bool,
    /// Path in front of the service, removed before anything is read from it. Default `/rest/v1`.
    pub path_prefix: String,
    /// Exposed schemas; the first one is the default. `tenant_*` exposes every schema whose name begins with `tenant_`.
    /// Default `public, graphql_public`.
    pub schemas: Vec<String>,
    /// Schemas appended to `search_path`, without endpoints. Default `public, extensions`.
    pub extra_search_path: Vec<String>,
    /// Role of requests without a role claim; `None` refuses them with PGRST302. Default `anon`.
    pub anon_role: Option<String>,
    /// Most rows of any read or call, embeds included; `None` is unlimited. Default 1000.
    pub max_rows: Option<u64>,
    /// Whether `sum() avg() min() max() count()` may be selected. Default false.
    pub aggregates_enabled: bool,
    /// Whether the EXPLAIN media type is served. Default false.
    pub plan_enabled: bool,
    /// How transactions end. Default commit.
    pub transaction_end: TransactionEnd,
    /// Function run in each transaction before the statement, `schema.name`. Default none.
    pub pre_request: Option<String>,
    /// Settings of functions' `SET` clauses that apply to the whole transaction of a call, not only inside of the
    /// function. Default `statement_timeout, plan_filter.statement_cost_limit, default_transaction_isolation`.
    pub hoisted_settings: Vec<String>,
    /// Channel whose notifications reload the catalog. Default `pgrst`.
    pub channel: String,
    /// Whether notifications are listened to. Default true.
    pub channel_enabled: bool,
    /// Whether settings `pgrst.*` of the connection's role are read. Default true.
    pub db_config: bool,
    /// Function that makes settings `pgrst.*` before they are read. Default none.
    pub pre_config: Option<String>,
    /// Whether statements are prepared; transaction poolers, which share connections between clients, need false.
    /// Default true.
    pub prepared_statements: bool,
    /// Function that replaces the root document. Default none.
    pub root_spec: Option<String>,
    /// Key by which tokens are verified: a shared secret, a JWK or a JWKS. Behind the gateway it is tried after the
    /// project's keys. Default none.
    pub jwt_secret: Option<SecretString>,
    /// Whether `jwt_secret` is written in base64. Default false.
    pub jwt_secret_is_base64: bool,
    /// Number of verified tokens that are cached; 0 switches the cache off. Default 1000.
    pub jwt_cache_entries: u64,
    /// Required audience of tokens. Default none.
    pub jwt_audience: Option<String>,
    /// Where in a token the role is. Default `$.role`.
    pub jwt_role_claim: ClaimPath,
    /// Where in a token its tenant is. A caller with such a claim who names no schema gets the one whose name is that of the first
    /// pattern in `schemas` with the claim in the place of `*`. Default none.
    pub tenant_claim: Option<ClaimPath>,
    /// What the root document describes. Default follow-privileges.
    pub openapi_mode: OpenApiMode,
    /// Whether the root document declares JWT security. Default false.
    pub openapi_security_active: bool,
    /// Public URL shown in the root document. Default none.
    pub openapi_proxy_uri: Option<String>,
    /// How much of an error clients see. Default verbose.
    pub error_verbosity: ErrorVerbosity,
    /// Whether the SQL of each request is logged; never its values. Default false.
    pub log_query: bool,
    /// Whether responses carry `Server-Timing`. Default false.
    pub server_timing_enabled: bool,
    /// Request header that every response repeats, in lower case. Default none.
    pub trace_header: Option<String>,
    /// Origins that browsers may call from; empty allows all. Used only when `standalone`. Default empty.
    pub cors_allowed_origins: Vec<String>,
    /// Whether filters, orders and limits of an aliased embed may use its target's name. Default true.
    pub legacy_target_names: bool,
    /// `app.settings.*`: names and values, set in every transaction.
    pub app_settings: Vec<(String, String)>,
    /// Seconds for which a token is accepted after its `exp`. Default 30.
    pub clock_skew_s: i64,
    /// Longest body accepted. Default 16 MiB.
    pub body_limit_bytes: usize,
    /// How long a request body may pause between two pieces. Default 15 s.
    pub body_pause: Duration,
    /// How long a request body may take as a whole. Default 50 s.
    pub body_duration: Duration,
    /// Longest query string accepted. Default 64 KiB.
    pub query_limit_bytes: usize,
    /// Most parameters in one query string. Default 500.
    pub parameter_limit: usize,
    /// Pause between two reloads of the schema cache: a migration announces each of its statements. Default 50 ms.
    pub reload_pause: Duration,
}

/// PostgREST's default of `hoisted_settings`.
const HOISTED_SETTINGS: [&str; 3] = [
    "statement_timeout",
    "plan_filter.statement_cost_limit",
    "default_transaction_isolation",
];

impl Default for RestConfig {
    fn default() -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            standalone: false,
            path_prefix: "/rest/v1".to_owned(),
            schemas: owned(&["public", "graphql_public"]),
            extra_search_path: owned(&["public", "extensions"]),
            anon_role: Some("anon".to_owned()),
            // The Supabase CLI's default; PostgREST has none.
            max_rows: Some(1000),
            aggregates_enabled: false,
            plan_enabled: false,
            transaction_end: TransactionEnd::Commit,
            pre_request: None,
            hoisted_settings: owned(&HOISTED_SETTINGS),
            channel: "pgrst".to_owned(),
            channel_enabled: true,
            db_config: true,
            pre_config: None,
            prepared_statements: true,
            root_spec: None,
            jwt_secret: None,
            jwt_secret_is_base64: false,
            jwt_cache_entries: 1000,
            jwt_audience: None,
            jwt_role_claim: ClaimPath::default(),
            tenant_claim: None,
            openapi_mode: OpenApiMode::FollowPrivileges,
            openapi_security_active: false,
            openapi_proxy_uri: None,
            error_verbosity: ErrorVerbosity::Verbose,
            log_query: false,
            server_timing_enabled: false,
            trace_header: None,
            cors_allowed_origins: Vec::new(),
            legacy_target_names: true,
            app_settings: Vec::new(),
            // PostgREST's fixed tolerance for clocks that differ.
            clock_skew_s: 30,
            body_limit_bytes: 16 * 1024 * 1024,
            body_pause: Duration::from_secs(15),
            body_duration: Duration::from_secs(50),
            query_limit_bytes: 64 * 1024,
            parameter_limit: 500,
            reload_pause: Duration::from_millis(50),
        }
    }
}

impl RestConfig {
    /// PostgREST's own defaults, for `selvedge rest`: schema `public` only, no anonymous role, no limit on rows, at `/`.
    pub fn standalone() -> Self {
        Self {
            standalone: true,
            path_prefix: String::new(),
            schemas: vec!["public".to_owned()],
            extra_search_path: vec!["public".to_owned()],
            anon_role: None,
            max_rows: None,
            ..Self::default()
        }
    }

    /// The schema used when no profile header chooses one.
    pub fn default_schema(&self) -> &str {
        let mut named = self.schemas.iter().filter(|entry| !entry.ends_with('*'));
        named.next().map_or("public", String::as_str)
    }
}
