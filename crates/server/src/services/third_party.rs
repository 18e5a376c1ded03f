//! Keeps the keys of the third-party issuer (`[auth.third_party]`) in the key ring.
//!
//! The keys are fetched at the start, every [`KEYS_LIFETIME`], and when a token names a key that is not known, because the
//! issuer may have rotated its keys. Anyone can send tokens with invented key ids, so that happens at most once per
//! [`REFETCH_PAUSE`]. While the issuer cannot be reached, its last keys stay in use.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use selvedge_config::Mode;
use selvedge_gateway::keep_running;
use selvedge_http_client::{Call, HttpClient};
use selvedge_token::{KeyRing, TrustedIssuer};
use serde_json::Value;
use tokio::time::{Instant, sleep};

/// How long a key set is used before it is fetched again. Tokens signed with a key that the issuer has withdrawn are
/// accepted for as long.
const KEYS_LIFETIME: Duration = Duration::from_secs(600);

/// Shortest time between two fetches while the issuer can be reached.
const REFETCH_PAUSE: Duration = Duration::from_secs(10);

/// How often it is checked whether a token has named an unknown key.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Longest pause after a fetch that failed; the first one is a second.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(60);

/// Starts to fetch the issuer's keys, forever.
///
/// # Errors
/// An address without TLS in production: whoever can change its responses could sign in as anybody.
pub(super) fn follow_issuer(ring: &Arc<KeyRing>, issuer: String, mode: Mode) -> Result<()> {
    if mode == Mode::Production && !issuer.starts_with("https://") {
        bail!("auth.third_party: the issuer's address must begin with https://");
    }
    let ring = Arc::clone(ring);
    tokio::spawn(keep_running("keys of auth.third_party", move || {
        fetch_keys_forever(Arc::clone(&ring), issuer.clone())
    }));
    Ok(())
}

async fn fetch_keys_forever(ring: Arc<KeyRing>, issuer: String) {
    let http = HttpClient::new(true);
    let mut retry_pause = CHECK_INTERVAL;
    loop {
        // Cleared before the fetch: a key that is met during it may be newer than the response.
        ring.take_unknown_key();
        match fetch_issuer(&http, &issuer).await {
            Ok(trusted) => {
                ring.trust_issuer(trusted);
                retry_pause = CHECK_INTERVAL;
                wait_for_fetch(&ring).await;
            }
            Err(error) => {
                tracing::warn!("auth.third_party: no keys of {issuer}: {error:#}");
                sleep(retry_pause).await;
                retry_pause = (retry_pause * 2).min(MAX_RETRY_PAUSE);
            }
        }
    }
}

/// Waits until the keys are old, or a token names an unknown one.
async fn wait_for_fetch(ring: &KeyRing) {
    let fetched_at = Instant::now();
    sleep(REFETCH_PAUSE).await;
    while fetched_at.elapsed() < KEYS_LIFETIME && !ring.take_unknown_key() {
        sleep(CHECK_INTERVAL).await;
    }
}

/// Fetches the discovery document and the key set that it names.
async fn fetch_issuer(http: &HttpClient, issuer: &str) -> Result<TrustedIssuer> {
    let document = format!("{issuer}/.well-known/openid-configuration");
    let document = http.send(Call::get(document)).await?.json()?;
    let jwks = http
        .send(Call::get(find_jwks_uri(&document, issuer)?))
        .await?
        .json()?;
    TrustedIssuer::new(issuer, &jwks).context("its key set has no usable key")
}

/// The address of the key set in a discovery document.
///
/// # Errors
/// When the document is another issuer's (OpenID Connect Discovery §4.3), or the address has no TLS though the issuer's has.
fn find_jwks_uri<'d>(document: &'d Value, issuer: &str) -> Result<&'d str> {
    let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
    if text("issuer").trim_end_matches('/') != issuer {
        bail!("its discovery document names another issuer");
    }
    let uri = document.get("jwks_uri").and_then(Value::as_str);
    let uri = uri.context("its discovery document has no jwks_uri")?;
    if issuer.starts_with("https://") && !uri.starts_with("https://") {
        bail!("its jwks_uri does not begin with https://");
    }
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn gw_011_key_sets_are_taken_only_from_the_issuers_own_document() {
        let find = |document: Value| {
            let found = find_jwks_uri(&document, "https://id.example");
            found.map(str::to_owned).map_err(|error| error.to_string())
        };
        let uri = "https://id.example/keys";
        let message = |text: &str| Err(text.to_owned());

        let good = json!({"issuer": "https://id.example/", "jwks_uri": uri});
        assert_eq!(find(good), Ok(uri.to_owned()));
        let foreign = json!({"issuer": "https://another.example", "jwks_uri": uri});
        assert_eq!(
            find(foreign),
            message("its discovery document names another issuer")
        );
        let bare = json!({"issuer": "https://id.example"});
        assert_eq!(find(bare), message("its discovery document has no jwks_uri"));
        let unsafe_uri = json!({"issuer": "https://id.example", "jwks_uri": "http://id.example/keys"});
        assert_eq!(
            find(unsafe_uri),
            message("its jwks_uri does not begin with https://")
        );
    }

    #[tokio::test]
    async fn gw_011_production_refuses_issuers_without_tls() {
        let ring = Arc::new(KeyRing::new(b"a-secret-of-at-least-thirty-two-characters", &[]).unwrap());

        let refused = follow_issuer(&ring, "http://id.example".to_owned(), Mode::Production);

        assert!(
            refused
                .unwrap_err()
                .to_string()
                .contains("must begin with https://")
        );
    }
}
