//! Calls of a running server's Auth API with a secret key.

use anyhow::{Result, bail};
use bytes::Bytes;
use hyper::Method;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use selvedge_config::Config;
use selvedge_database::instance;
use selvedge_http_client::{Call, CallError, CallResponse, HttpClient};
use selvedge_keys::KeySet;
use serde_json::Value;

use crate::cli::SsoArgs;

const PROVIDERS: &str = "/admin/sso/providers";
const API_KEY: HeaderName = HeaderName::from_static("apikey");

/// The Auth API of one server.
pub(super) struct AdminApi {
    http: HttpClient,
    /// URL of the API, without a trailing slash.
    pub(super) url: String,
    key: SecretString,
}

impl AdminApi {
    /// The server that `--url` names, else the running instance of the project.
    pub(super) fn find(mut config: Config, args: &SsoArgs) -> Result<Self> {
        let key = args.service_key.clone().map(SecretString::from);
        let (url, key) = match &args.url {
            Some(url) => (
                url.trim_end_matches('/').to_owned(),
                find_configured_key(&config, key)?,
            ),
            None => {
                // An instance that is being started has not written its ports yet and counts as not running.
                let ports = instance::find_server(&config)?
                    .as_ref()
                    .and_then(instance::Ports::from_lock);
                let Some(ports) = ports else {
                    bail!(
                        "{} is not running\n  start it with:  selvedge start\n  or name a server with:  --url",
                        config.project.id
                    );
                };
                ports.apply(&mut config);
                let key = match key {
                    Some(key) => key,
                    None => KeySet::of_instance(&config)?.service_role_key,
                };
                (loopback_url(&config), key)
            }
        };
        // A server in a private network is called as well, because its administrator has chosen it.
        let http = HttpClient::new(true);
        Ok(Self { http, url, key })
    }

    /// Calls `/admin/sso/providers` with what follows in the path.
    pub(super) async fn call_providers(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<CallResponse, CallError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let key = self.key.expose_secret();
        let body = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let url = format!("{}/auth/v1{PROVIDERS}{path}", self.url);
        // Both headers, because a legacy key is a token and an opaque one is not.
        let call = Call::with_headers(method, url, headers, body)
            .header(API_KEY, key)
            .header(AUTHORIZATION, &format!("Bearer {key}"));
        self.http.send(call).await
    }

    /// Fetches the server's own metadata, which need no key.
    pub(super) async fn fetch_service_metadata(&self) -> Result<CallResponse, CallError> {
        let url = format!("{}/auth/v1/sso/saml/metadata", self.url);
        self.http
            .send(Call::get(url).header(ACCEPT, "application/xml"))
            .await
    }
}

/// Returns the key for a server that is not this project's own instance. The well-known development keys are not tried,
/// because a server that accepts them is open to everybody.
fn find_configured_key(config: &Config, given: Option<SecretString>) -> Result<SecretString> {
    let keys = &config.auth.keys;
    let configured = || keys.secret_key.clone().or_else(|| keys.service_role_key.clone());
    match given.or_else(configured) {
        Some(key) => Ok(key),
        None => {
            bail!("--url needs the server's key: --service-key, or the variable SUPABASE_AUTH_SECRET_KEY")
        }
    }
}

/// The running instance by its port on this machine, as `api.external_url` may be served by a proxy that is not there.
fn loopback_url(config: &Config) -> String {
    let scheme = if config.api.tls.is_some() { "https" } else { "http" };
    format!("{scheme}://127.0.0.1:{}", config.api.port)
}
