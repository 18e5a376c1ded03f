//! `POST /sign-in/{provider}/choose`: the choice on the sign-in page. Ends the sign-in at the provider and sends the
//! browser back to the application.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use selvedge_token::unix_now;
use serde::Deserialize;
use serde_json::json;

use super::grants::{AuthorizationRequest, CODE_LIFETIME_S, Grant};
use super::html::respond_refusal;
use super::outcome::Outcome;
use super::page::{NEW_PERSON, PageState, render_sign_in_page};
use super::person::{Person, PersonFields};
use super::person_ids::find_errors;
use super::redirect::{send_back, send_denial, send_error};
use super::state::IdentityState;

/// The fields of the page's forms.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    request: String,
    person: String,
    outcome: String,
    name: String,
    email: String,
    /// A checkbox, which browsers send only if it is checked.
    email_verified: Option<String>,
    picture: String,
    provider_id: String,
}

/// Answers the forms of the page.
pub(super) async fn choose_person(
    state: web::Data<IdentityState>,
    provider: web::Path<String>,
    form: web::Form<Choice>,
) -> HttpResponse {
    let choice = form.into_inner();
    // Only a page of this provider has the name of its request, so that no other site can post a choice.
    let request = state.grants.find_request(&choice.request);
    let Some(request) = request.filter(|request| request.provider.name == *provider) else {
        return respond_refusal(
            StatusCode::BAD_REQUEST,
            "This page is too old",
            "Its sign-in is not known any more. Go back to the application and start again.",
        );
    };
    let Some(outcome) = Outcome::parse(&choice.outcome) else {
        return respond_refusal(
            StatusCode::BAD_REQUEST,
            "Unknown outcome",
            "The form names no known outcome.",
        );
    };
    if outcome.ends_at_provider() {
        return send_refusal(&request, outcome);
    }
    if choice.person == NEW_PERSON {
        return sign_in_new_person(&state, &request, choice, outcome);
    }
    finish_sign_in(&state, &request, &choice.person, outcome)
}

/// Adds the person of the form and signs them in, or shows the page again with what is wrong.
fn sign_in_new_person(
    state: &web::Data<IdentityState>,
    request: &Arc<AuthorizationRequest>,
    choice: Choice,
    outcome: Outcome,
) -> HttpResponse {
    let id = choice.provider_id.trim().to_owned();
    let fields = PersonFields {
        name: choice.name,
        email: Some(choice.email),
        email_verified: Some(choice.email_verified.is_some()),
        picture: Some(choice.picture),
        ids: BTreeMap::from([(request.provider.name.to_owned(), id)]),
    }
    .normalize();
    let mut errors = find_errors(&fields);
    if errors.is_empty() {
        match state.people.add(fields.clone()) {
            Ok(person) => return finish_sign_in(state, request, &person.id, outcome),
            Err(error) => errors.push(error),
        }
    }
    let page = PageState::new(&choice.request, request).with_errors(fields, errors, outcome);
    render_sign_in_page(state, &page)
}

/// Sends the browser back with the error of a person who refuses, or of a provider that fails.
pub(super) fn send_refusal(request: &AuthorizationRequest, outcome: Outcome) -> HttpResponse {
    if request.request_token.is_some() {
        return send_denial(request);
    }
    if outcome == Outcome::Cancelled {
        return send_error(request, request.provider.denial.0, request.provider.denial.1);
    }
    send_error(
        request,
        "server_error",
        "The provider failed, as chosen on the development sign-in page.",
    )
}

/// Makes a code for the person and sends the browser back with it.
pub(super) fn finish_sign_in(
    state: &web::Data<IdentityState>,
    request: &Arc<AuthorizationRequest>,
    person: &str,
    outcome: Outcome,
) -> HttpResponse {
    let Some((person, was_known)) = state.people.sign_in(person, request.provider) else {
        return respond_refusal(
            StatusCode::BAD_REQUEST,
            "Unknown person",
            "This person was deleted meanwhile. Go back to the application and start again.",
        );
    };
    // An expired code is a normal one that was issued too long ago.
    let age = if outcome == Outcome::Expired {
        CODE_LIFETIME_S + 1
    } else {
        0
    };
    let grant = Grant {
        request: request.clone(),
        subject: person.ids.get(request.provider.name).cloned().unwrap_or_default(),
        is_first: !was_known,
        issued_at: unix_now() - age,
        person: outcome.apply_to(person),
        outcome,
    };
    let posted_name = describe_first_time(&grant);
    let code = state.grants.add_code(Arc::new(grant));
    if let Some((token, _)) = &request.request_token {
        return send_back(request, &[("oauth_token", token), ("oauth_verifier", &code)]);
    }
    let mut params = vec![("code", code.as_str())];
    let state_param = request.param("state");
    if !state_param.is_empty() {
        params.push(("state", state_param));
    }
    if let Some(user) = &posted_name {
        params.push(("user", user));
    }
    send_back(request, &params)
}

/// Returns the form field `user` of Apple's response: the name, which Apple sends only at the first sign-in and only for the
/// scope `name`.
fn describe_first_time(grant: &Grant) -> Option<String> {
    let tells_name =
        grant.request.provider.name == "apple" && grant.is_first && grant.request.has_scope("name");
    tells_name.then(|| apple_user(&grant.person))
}

fn apple_user(person: &Person) -> String {
    let mut user = json!({"name": {"firstName": person.given_name(), "lastName": person.family_name()}});
    if let Some(email) = &person.email {
        user["email"] = json!(email);
    }
    user.to_string()
}
