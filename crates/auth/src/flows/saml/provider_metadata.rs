//! Metadata of identity providers: fetching them, and keeping stored ones fresh. Source: SAML contract §4, §7, §9.

use std::time::Instant;

use chrono::{DateTime, TimeDelta, Utc};
use hyper::header::{ACCEPT, LOCATION};
use selvedge_saml::{IdentityProvider, parse_identity_provider};
use url::Url;

use crate::error::{AuthError, FederationError};
use crate::http_client::{Call, CallResponse, DEFAULT_TIMEOUT};
use crate::request::AuthRequest;
use crate::state::AuthState;
use crate::store::saml::{self, SamlProvider};

/// Redirects that are followed to a metadata document.
const MAX_REDIRECTS: usize = 5;
/// How long metadata are used before they are fetched again, when they do not say it themselves.
const DEFAULT_LIFETIME: TimeDelta = TimeDelta::hours(24);

/// Fetches a metadata document. Redirects are followed as long as they lead to https URLs; the client refuses private
/// addresses, documents above 1 MB, and servers that take longer than ten seconds.
///
/// # Errors
/// 400 `saml_metadata_fetch_failed`; 400 `validation_failed` for bytes that are not UTF-8.
pub(crate) async fn fetch_metadata(state: &AuthState, url: &str) -> Result<String, AuthError> {
    let unreachable = || AuthError::from(FederationError::MetadataUnreachable { url: url.to_owned() });
    let mut target = url.to_owned();
    // One limit for all redirects together, because a user waits for the sign-in meanwhile.
    let deadline = Instant::now() + DEFAULT_TIMEOUT;
    for _ in 0..=MAX_REDIRECTS {
        let call = Call::get(&target)
            .header(ACCEPT, "application/xml;charset=UTF-8")
            .timeout(deadline.saturating_duration_since(Instant::now()));
        let response = state.restricted_http.send(call).await.map_err(|error| {
            // The cause is not part of the response, which would tell about the network behind the server.
            tracing::warn!(%error, "SAML metadata cannot be fetched");
            unreachable()
        })?;
        if response.status == 200 {
            return String::from_utf8(response.body.to_vec())
                .map_err(|_| AuthError::invalid(selvedge_saml::MetadataError::NotUtf8.to_string()));
        }
        target = find_redirect(&target, &response).ok_or_else(|| FederationError::MetadataFetchFailed {
            status: response.status,
            url: url.to_owned(),
        })?;
    }
    Err(unreachable())
}

/// The https URL that a response redirects to.
fn find_redirect(base: &str, response: &CallResponse) -> Option<String> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers.get(LOCATION)?.to_str().ok()?;
    let target = Url::parse(base).ok()?.join(location).ok()?;
    (target.scheme() == "https").then(|| target.into())
}

/// Whether metadata that were stored at `updated_at` should be fetched again.
fn is_stale(metadata: Option<&IdentityProvider>, updated_at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    // A document that cannot be read is replaced as soon as possible.
    let Some(metadata) = metadata else { return true };
    let is_past = |end: Option<DateTime<Utc>>| end.is_some_and(|end| end < now);
    let end_of_cache = |lifetime| updated_at.checked_add_signed(lifetime);
    match (metadata.valid_until, metadata.cache_duration) {
        (None, None) => is_past(end_of_cache(DEFAULT_LIFETIME)),
        (valid_until, cache) => is_past(valid_until) || is_past(cache.and_then(end_of_cache)),
    }
}

/// Reads the provider's metadata, after fetching them again where they are stale. New metadata count from this sign-in
/// on, so that a changed key is known when it is needed; they are ignored unless they describe the same entity and have a
/// key. `None` when the stored ones cannot be read either.
pub(crate) async fn read_fresh_metadata(
    request: &AuthRequest,
    provider: &SamlProvider,
) -> Result<Option<IdentityProvider>, AuthError> {
    let stored = parse_identity_provider(provider.metadata_xml.as_bytes()).ok();
    let Some(url) = &provider.metadata_url else {
        return Ok(stored);
    };
    if !is_stale(stored.as_ref(), provider.updated_at, request.now()) {
        return Ok(stored);
    }
    // An unreachable provider is no reason to refuse its users: the stored keys are still its keys.
    let Ok(xml) = fetch_metadata(&request.state, url).await else {
        return Ok(stored);
    };
    let fetched = parse_identity_provider(xml.as_bytes()).ok();
    let usable = fetched.filter(|new| new.entity_id == provider.entity_id && !new.keys.is_empty());
    let Some(new) = usable else {
        tracing::warn!(provider = %provider.id, "fetched SAML metadata are not usable; the stored ones stay");
        return Ok(stored);
    };
    let client = request.connect().await?;
    saml::set_metadata(&client, provider.id, &xml, request.now()).await?;
    Ok(Some(new))
}
