//! `/graphql/v1`: calls of the function `graphql_public.graphql`, with which pg_graphql answers where it is installed.
//!
//! As in Supabase's gateway a request is one to `/rpc/graphql` in another schema, so role, claims, errors and content types
//! are those of any function. Source: gateway contract §1.

use actix_web::Scope;
use actix_web::dev::{Service, ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::Uri;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::web;

use super::RestWorker;

/// Names the schema of a function that is called by POST.
const CONTENT_PROFILE: HeaderName = HeaderName::from_static("content-profile");

/// Makes the scope at `path`.
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

/// Turns a request below `path` into one that calls the function.
fn rewrite_request(request: &mut ServiceRequest, path: &str, prefix: &str) {
    let below = request.path().strip_prefix(path).unwrap_or_default();
    let mut target = format!("{prefix}/rpc/graphql{}", below.trim_end_matches('/'));
    if let Some(query) = request.uri().query() {
        target.push('?');
        target.push_str(query);
    }
    // REST reads the request's URI alone, so the route by which it came here does not matter.
    let head = request.head_mut();
    // A part of a valid path with a valid path in front of it is valid too.
    if let Ok(uri) = target.parse::<Uri>() {
        head.uri = uri;
    }
    head.headers
        .insert(CONTENT_PROFILE, HeaderValue::from_static("graphql_public"));
}
