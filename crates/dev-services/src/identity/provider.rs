//! The description of a provider: paths, ids, tokens, and the functions that render a person as its JSON.

use std::collections::HashMap;

use serde_json::Value;

use super::person::Person;
use super::subject::SubjectStyle;

/// A simulated identity provider.
#[derive(Debug)]
pub(super) struct Provider {
    /// Name in `[auth.external.<name>]`.
    pub(super) name: &'static str,
    /// The provider's display name.
    pub(super) title: &'static str,
    /// End of the path of the authorization endpoint.
    pub(super) authorize_path: &'static str,
    /// End of the path of the token endpoint.
    pub(super) token_path: &'static str,
    /// The style of its user ids.
    pub(super) subject: SubjectStyle,
    /// Prefix of its access tokens.
    pub(super) access_token_prefix: &'static str,
    /// `token_type` of its token responses.
    pub(super) token_type: &'static str,
    /// `expires_in` of its token responses, in seconds; `None` if the provider does not send it.
    pub(super) expires_in: Option<i64>,
    pub(super) refresh_tokens: RefreshTokens,
    /// `None` for a provider without ID tokens.
    pub(super) id_token: Option<IdToken>,
    /// Further members of its token responses, which replace those that every provider sends.
    pub(super) token_extras: fn(&Account<'_>) -> Value,
    /// Its API for the signed-in person.
    pub(super) resources: &'static [Resource],
    /// `error` and `error_description` when the person refuses.
    pub(super) denial: (&'static str, &'static str),
    /// Whether the authorization request needs a PKCE challenge.
    pub(super) requires_pkce: bool,
    /// Whether errors of the token endpoint have status 200.
    pub(super) errors_with_200: bool,
    /// Whether token responses are forms unless JSON is asked for.
    pub(super) answers_with_form: bool,
    /// Whether the provider speaks OAuth 1.0a.
    pub(super) is_oauth1: bool,
}

/// Values that most providers have.
pub(super) const DEFAULT: Provider = Provider {
    name: "",
    title: "",
    authorize_path: "/oauth/authorize",
    token_path: "/oauth/token",
    subject: SubjectStyle::Uuid,
    access_token_prefix: "",
    token_type: "bearer",
    expires_in: None,
    refresh_tokens: RefreshTokens::Never,
    id_token: None,
    token_extras: |_| Value::Null,
    resources: &[],
    denial: ("access_denied", "The user denied the request"),
    requires_pkce: false,
    errors_with_200: false,
    answers_with_form: false,
    is_oauth1: false,
};

/// When a provider issues a refresh token.
#[derive(Debug, Clone, Copy)]
pub(super) enum RefreshTokens {
    Never,
    Always,
    /// Only if this scope was requested.
    WithScope(&'static str),
    /// With `access_type=offline` and a consent, as Google does.
    Offline,
}

/// When and how a provider issues ID tokens.
#[derive(Debug)]
pub(super) struct IdToken {
    /// The issuer; the argument is `url` of the provider's section.
    pub(super) issuer: fn(Option<&str>) -> String,
    /// Claims besides those of every ID token; null leaves one out.
    pub(super) claims: fn(&Account<'_>) -> Value,
    /// Whether the token endpoint of the web flow returns one for these scopes.
    pub(super) is_issued: fn(&Account<'_>) -> bool,
    /// Path of the userinfo endpoint in the discovery document.
    pub(super) userinfo_path: Option<&'static str>,
}

/// A path of a provider's API.
#[derive(Debug)]
pub(super) struct Resource {
    /// The end of the request path for which this entry is used.
    pub(super) path: &'static str,
    /// Renders the person as this endpoint's JSON.
    pub(super) read: fn(&Account<'_>) -> Value,
    /// A header that the API requires: its name, and its value or `None` for the client id.
    pub(super) required_header: Option<(&'static str, Option<&'static str>)>,
}

impl Resource {
    pub(super) const fn new(path: &'static str, read: fn(&Account<'_>) -> Value) -> Self {
        Self {
            path,
            read,
            required_header: None,
        }
    }
}

/// The signed-in person as a provider's functions read them.
pub(super) struct Account<'a> {
    pub(super) person: &'a Person,
    /// The person's id at the provider.
    pub(super) subject: &'a str,
    /// URL of the picture.
    pub(super) picture: String,
    pub(super) client_id: &'a str,
    /// The parameters of the authorization request.
    pub(super) params: &'a RequestParams,
    /// When the person signed in, in unix seconds.
    pub(super) issued_at: i64,
}

impl Account<'_> {
    /// The id as a JSON number, for providers that return one.
    pub(super) fn numeric_subject(&self) -> u64 {
        self.subject.parse().unwrap_or_default()
    }

    /// A parameter of the authorization request; empty when it is missing.
    pub(super) fn param(&self, name: &str) -> &str {
        self.params.get(name)
    }

    /// Whether a scope was asked for.
    pub(super) fn has_scope(&self, scope: &str) -> bool {
        self.params.has_scope(scope)
    }
}

/// The parameters of an authorization request, such as `state`, `scope`, `nonce`, `prompt` and `access_type`.
#[derive(Debug, Default)]
pub(super) struct RequestParams(HashMap<String, String>);

impl RequestParams {
    /// Reads a query.
    pub(super) fn parse(query: &str) -> Self {
        Self(
            url::form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// A parameter; empty when it is missing.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Whether a scope was asked for. Providers separate scopes by spaces, some by commas.
    pub(super) fn has_scope(&self, scope: &str) -> bool {
        self.get("scope")
            .split([' ', ','])
            .any(|requested| requested == scope)
    }
}
