//! Sends the browser back to the registered callback URL, in the query or by a posted form.

use actix_web::HttpResponse;
use actix_web::http::header;
use url::Url;

use super::grants::AuthorizationRequest;
use super::html::{escape, respond_page};

/// Sends the browser to the callback with these parameters.
///
/// With `response_mode=form_post` (Sign in with Apple) the browser posts them, so that code and name are not part of a
/// URL.
pub(super) fn send_back(request: &AuthorizationRequest, params: &[(&str, &str)]) -> HttpResponse {
    if request.param("response_mode") == "form_post" {
        return post_back(request, params);
    }
    let Ok(mut url) = Url::parse(&request.redirect_uri) else {
        return HttpResponse::BadRequest().body("the callback URL is not a URL");
    };
    url.query_pairs_mut().extend_pairs(params);
    HttpResponse::Found()
        .insert_header((header::LOCATION, url.as_str()))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        // The URL of the page contains `state`, which no other page needs to know.
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .finish()
}

/// Sends the browser to the callback with an error, as RFC 6749 §4.1.2.1 says.
pub(super) fn send_error(request: &AuthorizationRequest, error: &str, description: &str) -> HttpResponse {
    let mut params = vec![("error", error), ("error_description", description)];
    let state = request.param("state");
    if !state.is_empty() {
        params.push(("state", state));
    }
    send_back(request, &params)
}

/// Redirects the browser as Twitter does after a refusal; OAuth 1.0a defines no other error.
pub(super) fn send_denial(request: &AuthorizationRequest) -> HttpResponse {
    let token = request
        .request_token
        .as_ref()
        .map_or("", |(token, _)| token.as_str());
    send_back(request, &[("denied", token)])
}

fn post_back(request: &AuthorizationRequest, params: &[(&str, &str)]) -> HttpResponse {
    let fields: String = params
        .iter()
        .map(|(name, value)| {
            format!(
                "<input type=\"hidden\" name=\"{}\" value=\"{}\">",
                escape(name),
                escape(value)
            )
        })
        .collect();
    let action = escape(&request.redirect_uri);
    let body = format!(
        "<main><h1>Back to the application</h1><form method=\"post\" action=\"{action}\">{fields}\
         <p><button class=\"primary\" autofocus>Continue</button></p></form></main>\
         <script>document.forms[0].submit()</script>"
    );
    respond_page("Back to the application", &body)
}
