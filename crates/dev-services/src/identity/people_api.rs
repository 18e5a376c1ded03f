//! The API for tests: people without the page, and ID tokens for `signInWithIdToken`.
//!
//! Bodies must be `application/json`. Browsers send that type to another origin only after a successful CORS preflight,
//! which is never answered, so that foreign pages cannot use the API.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, HttpResponseBuilder, web};
use serde::Deserialize;
use serde_json::json;

use super::id_token_page::issue_id_token;
use super::person::{FieldError, PersonFields};
use super::person_ids::find_errors;
use super::state::{IdentityState, prepare_keys};

/// `GET /sign-in/api/people` → `{people: [{id, name, email, email_verified, picture, ids}]}`, the one who signed in last first.
pub(super) async fn list_people(state: web::Data<IdentityState>) -> HttpResponse {
    HttpResponse::Ok().json(json!({"people": state.people.list()}))
}

/// `POST /sign-in/api/people` `{name, email?, email_verified?, picture?, ids?}` → 201 with the person, or 200 when a
/// person with this address was changed; 422 `{errors: [{field, message}]}`.
pub(super) async fn save_person(
    state: web::Data<IdentityState>,
    body: web::Json<PersonFields>,
) -> HttpResponse {
    let fields = body.into_inner().normalize();
    let errors = find_errors(&fields);
    if !errors.is_empty() {
        return refuse(&errors);
    }
    match state.people.save(fields) {
        Ok((person, is_new)) => {
            let status = if is_new {
                StatusCode::CREATED
            } else {
                StatusCode::OK
            };
            HttpResponseBuilder::new(status).json(person)
        }
        Err(error) => refuse(&[error]),
    }
}

/// `DELETE /sign-in/api/people` → 204; removes all people.
pub(super) async fn delete_people(state: web::Data<IdentityState>) -> HttpResponse {
    state.people.clear();
    HttpResponse::NoContent().finish()
}

/// `DELETE /sign-in/api/people/{id}` → 204, or 404 for an unknown one.
pub(super) async fn delete_person(state: web::Data<IdentityState>, id: web::Path<String>) -> HttpResponse {
    if state.people.remove(&id) {
        HttpResponse::NoContent().finish()
    } else {
        HttpResponse::NotFound().finish()
    }
}

/// Body of `POST /sign-in/api/id-token`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IdTokenRequest {
    provider: String,
    /// Id or address of the person.
    person: String,
    /// The nonce that the application will send; the token gets its hash.
    #[serde(default)]
    nonce: String,
}

/// `POST /sign-in/api/id-token` `{provider, person, nonce?}` → `{id_token}`; 404 for a provider that is not answered
/// here or issues none, 422 for an unknown person.
pub(super) async fn create_id_token(
    state: web::Data<IdentityState>,
    body: web::Json<IdTokenRequest>,
) -> HttpResponse {
    let Some((provider, client)) = state.find_client(&body.provider) else {
        return HttpResponse::NotFound().finish();
    };
    // Providers of plain OAuth 2.0 have no ID tokens, so there is nothing to create.
    if provider.id_token.is_none() {
        return HttpResponse::NotFound().finish();
    }
    let Some(person) = state.people.find(&body.person) else {
        return refuse(&[FieldError::new("person", "There is no such person.")]);
    };
    prepare_keys(&state).await;
    match issue_id_token(&state, provider, client, &person, &body.nonce) {
        Some(token) => HttpResponse::Ok().json(json!({"id_token": token})),
        None => HttpResponse::InternalServerError().finish(),
    }
}

fn refuse(errors: &[FieldError]) -> HttpResponse {
    HttpResponse::UnprocessableEntity().json(json!({"errors": errors}))
}
