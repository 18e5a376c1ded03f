//! `/graphql/v1`: calls the function `graphql_public.graphql`, which pg_graphql answers if it is installed.
//!
//! As in Supabase's gateway, a request is rewritten to `/rpc/graphql` in the schema `graphql_public`. Role, claims, errors and
//! content types are therefore those of any function call. Source: gateway contract §1.

use actix_web::Scope;
use actix_web::dev::{Service, ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::Uri;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::web;
use selvedge_gateway::routed_path;

use super::RestWorker;

/// The header that names the schema of a function called by POST.
const CONTENT_PROFILE: HeaderName = HeaderName::from_static("content-profile");

/// Creates the scope at `path`, such as `/graphql/v1`.
pub fn graphql_scope(
    path: &'static str,
    rest: RestWorker,
) -> Scope<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse,
        Error = actix_web::Error,
        InitError = (),
    >,
> {
    let prefix = rest.path_prefix();
    web::scope(path)
        .configure(rest.configure())
        .wrap_fn(move |mut request, service| {
            rewrite_request(&mut request, path, &prefix);
            service.call(request)
        })
}

/// Rewrites a request below `path` to a call of the function. `prefix` is the path prefix of REST.
fn rewrite_request(request: &mut ServiceRequest, path: &str, prefix: &str) {
    let sent = routed_path(request.uri());
    let below = sent.strip_prefix(path).unwrap_or_default();
    let mut target = format!("{prefix}/rpc/graphql{}", below.trim_end_matches('/'));
    if let Some(query) = request.uri().query() {
        target.push('?');
        target.push_str(query);
    }
    // REST reads the URI in the head, not the route that matched.
    let head = request.head_mut();
    // Joining two valid paths gives a valid path, so this does not fail.
    if let Ok(uri) = target.parse::<Uri>() {
        head.uri = uri;
    }
    head.headers
        .insert(CONTENT_PROFILE, HeaderValue::from_static("graphql_public"));
}
