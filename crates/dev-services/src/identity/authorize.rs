//! `GET <authorization endpoint>`: checks the request and shows the sign-in page; with `dev_person` or `dev_outcome`
//! the choice is made without the page.
//!
//! Client id and callback URL must be the registered ones, and until both are checked the browser is never sent
//! anywhere: otherwise a link to this page could lead people to any site (open redirect), with a code.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};

use super::choose::{finish_sign_in, send_refusal};
use super::grants::AuthorizationRequest;
use super::html::respond_refusal;
use super::outcome::Outcome;
use super::page::{PageState, render_sign_in_page};
use super::provider::{Provider, RequestParams};
use super::redirect::send_error;
use super::settings::ProviderClient;
use super::state::IdentityState;

/// Answers the authorization endpoint of OAuth 2.0 and OpenID Connect.
pub(super) fn authorize(
    state: &web::Data<IdentityState>,
    provider: &'static Provider,
    client: &ProviderClient,
    query: &str,
) -> HttpResponse {
    match check_request(provider, client, RequestParams::parse(query)) {
        Ok(request) => continue_request(state, Arc::new(request)),
        Err(refusal) => *refusal,
    }
}

/// Goes on with a checked request: as its parameters say, or by the page.
pub(super) fn continue_request(
    state: &web::Data<IdentityState>,
    request: Arc<AuthorizationRequest>,
) -> HttpResponse {
    begin_to_prepare_keys(state, request.provider);
    let Some(outcome) = Outcome::parse(request.param("dev_outcome")) else {
        let text = "dev_outcome is none of: success, cancelled, provider_error, no_email, unverified_email, slow, \
                    code_used_twice, expired.";
        return respond_refusal(StatusCode::BAD_REQUEST, "Unknown outcome", text);
    };
    if outcome.ends_at_provider() {
        return send_refusal(&request, outcome);
    }
    // Tests name a person, so that they need not operate the page.
    let wanted = request.param("dev_person");
    if !wanted.is_empty() {
        return match state.people.find(wanted) {
            Some(person) => finish_sign_in(state, &request, &person.id, outcome),
            None => respond_refusal(
                StatusCode::BAD_REQUEST,
                "Unknown person",
                "dev_person is neither the id nor the address of a person. Tests create people with \
                 POST /sign-in/api/people.",
            ),
        };
    }
    // This provider keeps no sign-in session, so `prompt=none` cannot succeed.
    if request.param("prompt") == "none" {
        return send_error(
            &request,
            "login_required",
            "Nobody is signed in, and prompt=none forbids the page.",
        );
    }
    let id = state.grants.add_request(request.clone());
    render_sign_in_page(state, &PageState::new(&id, &request))
}

/// Starts to generate the key of ID tokens while the person reads the page, so that the exchange need not wait for it.
fn begin_to_prepare_keys(state: &web::Data<IdentityState>, provider: &Provider) {
    if provider.id_token.is_some() {
        let state = state.clone();
        std::thread::spawn(move || {
            state.keys();
        });
    }
}

/// Checks client and callback, then the protocol.
fn check_request(
    provider: &'static Provider,
    client: &ProviderClient,
    params: RequestParams,
) -> Result<AuthorizationRequest, Box<HttpResponse>> {
    let refuse =
        |title: &str, text: String| Err(Box::new(respond_refusal(StatusCode::BAD_REQUEST, title, &text)));
    let client_id = params.get("client_id").to_owned();
    if !client.client_ids.contains(&client_id) {
        return refuse(
            "Unknown client",
            format!(
                "The client id {client_id:?} is not the one in [auth.external.{}].",
                provider.name
            ),
        );
    }
    let redirect_uri = params.get("redirect_uri").to_owned();
    if redirect_uri != client.redirect_uri {
        return refuse(
            "Wrong callback URL",
            format!(
                "redirect_uri is {redirect_uri:?}, but {:?} is registered. Nobody is sent there.",
                client.redirect_uri
            ),
        );
    }
    let request = AuthorizationRequest {
        provider,
        client_id,
        redirect_uri,
        params,
        request_token: None,
    };
    // From here on errors go to the application, as its callback is known to be the registered one.
    check_protocol(&request)?;
    Ok(request)
}

/// Checks response type and PKCE.
fn check_protocol(request: &AuthorizationRequest) -> Result<(), Box<HttpResponse>> {
    if request.param("response_type") != "code" {
        return Err(Box::new(send_error(
            request,
            "unsupported_response_type",
            "Only response_type=code is known.",
        )));
    }
    // PKCE is optional with most providers; a challenge that is sent is always checked.
    let challenge = request.param("code_challenge");
    if challenge.is_empty() && request.provider.requires_pkce {
        return Err(Box::new(send_error(
            request,
            "invalid_request",
            "code_challenge is required.",
        )));
    }
    if !challenge.is_empty() && request.param("code_challenge_method") != "S256" {
        return Err(Box::new(send_error(
            request,
            "invalid_request",
            "Only code_challenge_method=S256 is known.",
        )));
    }
    Ok(())
}
