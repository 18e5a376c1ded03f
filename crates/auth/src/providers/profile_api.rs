//! Fetches the profile from a provider's own API, for providers without ID tokens.
//!
//! A file of [`super::named`] says which calls to make and how to read the responses. Both are pure functions; only
//! [`ProfileApi::fetch_profile`] makes network calls.

use serde_json::Value;

use super::addresses::Addresses;
use super::code_exchange::ProviderTokens;
use super::json_fields::{Fields, list_elements};
use super::profile::Profile;
use crate::config::ProviderConfig;
use crate::error::ProviderError;
use crate::http_client::{Call, HttpClient};

/// The API that one provider has for the signed-in user.
#[derive(Debug, Clone)]
pub(super) struct ProfileApi {
    /// Start of every URL, without a trailing slash; most providers' identities have it as `iss`, too.
    pub(super) base: String,
    /// The calls to make, one after the other. Empty when the token response already has the profile.
    pub(super) build_calls: fn(&ApiContext<'_>) -> Vec<Call>,
    /// Reads the profile from the JSON responses to those calls, in their order.
    pub(super) read_profile: fn(&ApiContext<'_>, &Responses) -> Profile,
}

/// What a provider's functions may use: base URL, our credentials, and the tokens of the user.
pub(super) struct ApiContext<'a> {
    pub(super) base: &'a str,
    pub(super) client: &'a ProviderConfig,
    pub(super) tokens: &'a ProviderTokens,
}

impl ApiContext<'_> {
    /// A GET of a path below the base, with the access token.
    pub(super) fn get(&self, path: &str) -> Call {
        let addresses = Addresses::from_config(self.client);
        Call::get(addresses.resolve_url(&format!("{}{path}", self.base))).bearer(&self.tokens.access_token)
    }
}

/// JSON responses in the order of the calls.
pub(super) struct Responses(pub(super) Vec<Value>);

impl Responses {
    /// The members of the response at `index`, counted from 0.
    pub(super) fn object(&self, index: usize) -> Fields<'_> {
        Fields::from(self.0.get(index).unwrap_or(&Value::Null))
    }

    /// The elements of the response at `index`, when that response is a list.
    pub(super) fn list(&self, index: usize) -> impl Iterator<Item = Fields<'_>> {
        list_elements(self.0.get(index))
    }
}

impl ProfileApi {
    /// Calls the API and reads the profile of the user whom the access token belongs to.
    ///
    /// # Errors
    /// A call that fails, a response that is not JSON, and [`ProviderError::NoSubject`] for a response without a user
    /// id.
    pub(super) async fn fetch_profile(
        &self,
        http: &HttpClient,
        client: &ProviderConfig,
        tokens: &ProviderTokens,
    ) -> Result<Profile, ProviderError> {
        let context = ApiContext {
            base: &self.base,
            client,
            tokens,
        };
        let mut responses = Vec::new();
        for call in (self.build_calls)(&context) {
            responses.push(http.send(call).await?.json()?);
        }
        let profile = (self.read_profile)(&context, &Responses(responses));
        if profile.subject.is_empty() {
            return Err(ProviderError::NoSubject);
        }
        Ok(profile)
    }
}
