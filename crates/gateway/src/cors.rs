//! Cross-origin rules: the response to a browser's preflight, and the CORS headers of every other response.
//!
//! There are two policies, because clients of two servers rely on their headers: [`PLATFORM`] is that of Supabase's
//! gateway (source: gateway contract §4), [`CorsPolicy::postgrest`] that of a PostgREST that stands alone (source: REST
//! contract §8.5). Any origin may ask in both unless the configuration lists some: keys and tokens decide, not cookies,
//! so a foreign page cannot use a visitor's session.

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};

use crate::{RequestId, Service, request_id};

/// Response headers that scripts may read. They are listed because `*` does not cover `Authorization`, and old browsers
/// do not support it.
pub(crate) const PLATFORM_EXPOSED: &str = "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, ETag, Link, Location, Preference-Applied, \
     Range-Unit, Retry-After, Server-Timing, Warning, X-Total-Count, X-Supabase-Api-Version, X-Request-Id, x-relay-error, \
     sb-error-code, x-sb-error-code, Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, Tus-Resumable, \
     Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Complete, Accept-Ranges, Content-Disposition, Content-Length, \
     Last-Modified, X-Transformations";

const POSTGREST_EXPOSED: &str = "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Location, Server, Transfer-Encoding, Range-Unit";

/// The policy of the gateway, for all services behind it.
pub(crate) static PLATFORM: CorsPolicy<'static> =
    CorsPolicy::platform(Some(HeaderValue::from_static(PLATFORM_EXPOSED)));

/// The policy for responses outside of the services (the site's files, health). They have no headers to expose, and the list
/// of 600 bytes would be sent with each of the thirty files that a page loads.
static PLATFORM_SITE: CorsPolicy<'static> = CorsPolicy::platform(None);

/// Sets the headers that every response of the gateway has: request id and CORS. Responses to requests without `Origin`
/// get them, too (gateway contract §4).
pub(crate) fn apply_platform_headers(response: &mut HeaderMap, service: Service, id: &RequestId) {
    let policy = match service {
        Service::Other => &PLATFORM_SITE,
        _ => &PLATFORM,
    };
    policy.apply(AllowedOrigin::Any, response);
    response.insert(request_id::HEADER, id.header());
}

/// Which origins, methods and headers browsers may use.
#[derive(Debug)]
pub struct CorsPolicy<'a> {
    methods: &'static [&'static str],
    /// `methods` as the value of `Access-Control-Allow-Methods`.
    allowed_methods: HeaderValue,
    /// Whether a preflight for a method that is not in `methods` is answered, too.
    serves_any_method: bool,
    allowed_headers: AllowedHeaders,
    /// How long a browser may remember the preflight.
    max_age_seconds: HeaderValue,
    exposed_headers: Option<HeaderValue>,
    /// Whether the response to a preflight names the exposed headers, too.
    exposes_in_preflight: bool,
    /// Origins that may ask; any if empty.
    origins: &'a [String],
}

/// Request headers that a preflight allows.
#[derive(Debug)]
enum AllowedHeaders {
    /// The headers in `Access-Control-Request-Headers`.
    Requested,
    /// The headers in `Access-Control-Request-Headers`, `Authorization`, and those that the Fetch standard calls safelisted.
    RequestedAndSafelisted,
}

/// Result of matching a request's `Origin` with a policy.
#[derive(Debug)]
pub enum AllowedOrigin {
    /// The request has no `Origin`, or one that is not on the list: the response gets no CORS headers.
    None,
    /// `*`.
    Any,
    /// This origin is on the list, and may send credentials.
    Listed(HeaderValue),
}

impl CorsPolicy<'static> {
    const fn platform(exposed_headers: Option<HeaderValue>) -> Self {
        Self {
            methods: &[
                "GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS", "TRACE", "CONNECT",
            ],
            allowed_methods: HeaderValue::from_static("GET,HEAD,PUT,PATCH,POST,DELETE,OPTIONS,TRACE,CONNECT"),
            serves_any_method: true,
            allowed_headers: AllowedHeaders::Requested,
            // The longest time for which Chromium remembers a preflight.
            max_age_seconds: HeaderValue::from_static("7200"),
            exposed_headers,
            exposes_in_preflight: true,
            origins: &[],
        }
    }
}

impl<'a> CorsPolicy<'a> {
    /// The policy of a PostgREST without a gateway. `origins` are those of `server-cors-allowed-origins`; any if empty.
    pub const fn postgrest(origins: &'a [String]) -> Self {
        Self {
            methods: &["GET", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "HEAD"],
            allowed_methods: HeaderValue::from_static("GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD"),
            serves_any_method: false,
            allowed_headers: AllowedHeaders::RequestedAndSafelisted,
            max_age_seconds: HeaderValue::from_static("86400"),
            exposed_headers: Some(HeaderValue::from_static(POSTGREST_EXPOSED)),
            exposes_in_preflight: false,
            origins,
        }
    }

    /// Decides whether a request's `Origin` is allowed.
    pub fn match_origin(&self, request: &HeaderMap) -> AllowedOrigin {
        let Some(origin) = request.get(header::ORIGIN) else {
            return AllowedOrigin::None;
        };
        if self.origins.is_empty() {
            AllowedOrigin::Any
        } else if self
            .origins
            .iter()
            .any(|known| known.as_bytes() == origin.as_bytes())
        {
            AllowedOrigin::Listed(origin.clone())
        } else {
            AllowedOrigin::None
        }
    }

    /// Returns the response to a preflight, without the headers that [`Self::apply`] adds. `None` when the request is not a
    /// preflight or its origin is not allowed; the service then handles it as any OPTIONS request.
    pub fn preflight_response(&self, method: &Method, request: &HeaderMap) -> Option<HttpResponse> {
        if method != Method::OPTIONS
            || !self.serves_method(request.get(header::ACCESS_CONTROL_REQUEST_METHOD)?)
            || matches!(self.match_origin(request), AllowedOrigin::None)
        {
            return None;
        }
        let mut response = HttpResponse::build(StatusCode::OK).finish();
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, self.allowed_methods.clone());
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, self.max_age_seconds.clone());
        let requested = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS);
        self.allowed_headers.insert(requested, headers);
        Some(response)
    }

    /// Sets the CORS headers of a response, and replaces those that a service wrote.
    pub fn apply(&self, origin: AllowedOrigin, response: &mut HeaderMap) {
        let allowed = match origin {
            AllowedOrigin::None => return,
            AllowedOrigin::Any => HeaderValue::from_static("*"),
            AllowedOrigin::Listed(origin) => {
                response.insert(
                    header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
                    HeaderValue::from_static("true"),
                );
                // The response differs by origin, so caches must keep one for each.
                response.append(header::VARY, HeaderValue::from_static("Origin"));
                origin
            }
        };
        response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        if let Some(exposed) = &self.exposed_headers
            && (self.exposes_in_preflight || !response.contains_key(header::ACCESS_CONTROL_ALLOW_METHODS))
        {
            response.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed.clone());
        }
    }

    fn serves_method(&self, method: &HeaderValue) -> bool {
        let method = method.as_bytes().trim_ascii();
        self.serves_any_method || self.methods.iter().any(|known| known.as_bytes() == method)
    }
}

impl AllowedHeaders {
    /// Writes `Access-Control-Allow-Headers`; `requested` is the preflight's `Access-Control-Request-Headers`.
    fn insert(&self, requested: Option<&HeaderValue>, response: &mut HeaderMap) {
        const NAME: HeaderName = header::ACCESS_CONTROL_ALLOW_HEADERS;
        match self {
            Self::Requested => {
                response.insert(
                    header::VARY,
                    HeaderValue::from_static("Access-Control-Request-Headers"),
                );
                if let Some(requested) = requested {
                    response.insert(NAME, requested.clone());
                }
            }
            Self::RequestedAndSafelisted => {
                let requested = requested
                    .and_then(|names| names.to_str().ok())
                    .unwrap_or_default();
                let mut allowed = String::from("Authorization, ");
                for name in requested
                    .split(',')
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                {
                    allowed.push_str(name);
                    allowed.push_str(", ");
                }
                allowed.push_str("Accept, Accept-Language, Content-Language");
                if let Ok(allowed) = HeaderValue::from_str(&allowed) {
                    response.insert(NAME, allowed);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preflight_headers(method: &'static str, origin: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
        headers.insert(
            header::ACCESS_CONTROL_REQUEST_METHOD,
            HeaderValue::from_static(method),
        );
        headers.insert(
            header::ACCESS_CONTROL_REQUEST_HEADERS,
            HeaderValue::from_static("x-a, x-b"),
        );
        headers
    }

    fn allowed_headers(policy: &CorsPolicy<'_>, request: &HeaderMap) -> Option<String> {
        let response = policy.preflight_response(&Method::OPTIONS, request)?;
        let allowed = response.headers().get(header::ACCESS_CONTROL_ALLOW_HEADERS)?;
        allowed.to_str().ok().map(ToOwned::to_owned)
    }

    #[test]
    fn the_platform_allows_the_requested_headers_and_any_method() {
        let request = preflight_headers("PROPFIND", "https://site.example");

        assert_eq!(allowed_headers(&PLATFORM, &request).as_deref(), Some("x-a, x-b"));
        assert!(PLATFORM.preflight_response(&Method::GET, &request).is_none());
        assert!(
            PLATFORM
                .preflight_response(&Method::OPTIONS, &HeaderMap::new())
                .is_none()
        );
    }

    #[test]
    fn postgrest_adds_safe_headers_and_refuses_other_methods_and_origins() {
        let listed = ["https://site.example".to_owned()];
        let policy = CorsPolicy::postgrest(&listed);

        let allowed = allowed_headers(&policy, &preflight_headers("PATCH", "https://site.example"));
        assert_eq!(
            allowed.as_deref(),
            Some("Authorization, x-a, x-b, Accept, Accept-Language, Content-Language")
        );
        for request in [
            preflight_headers("PROPFIND", "https://site.example"),
            preflight_headers("PATCH", "https://elsewhere.example"),
        ] {
            assert_eq!(allowed_headers(&policy, &request), None);
        }
    }

    #[test]
    fn a_listed_origin_may_send_credentials() {
        let listed = ["https://site.example".to_owned()];
        let policy = CorsPolicy::postgrest(&listed);
        let request = preflight_headers("GET", "https://site.example");
        let mut response = HeaderMap::new();

        policy.apply(policy.match_origin(&request), &mut response);

        let value = |name: HeaderName| response.get(name).and_then(|value| value.to_str().ok());
        assert_eq!(
            value(header::ACCESS_CONTROL_ALLOW_ORIGIN),
            Some("https://site.example")
        );
        assert_eq!(value(header::ACCESS_CONTROL_ALLOW_CREDENTIALS), Some("true"));
        assert_eq!(value(header::VARY), Some("Origin"));
        assert_eq!(
            value(header::ACCESS_CONTROL_EXPOSE_HEADERS),
            Some(POSTGREST_EXPOSED)
        );
    }
}
