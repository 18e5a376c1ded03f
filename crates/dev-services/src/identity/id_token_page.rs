//! `GET /sign-in/{provider}`: a page that hands out ID tokens, to be pasted into `signInWithIdToken`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use selvedge_token::unix_now;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::grants::{AuthorizationRequest, Grant};
use super::html::{escape, respond_page, respond_refusal};
use super::openid::{TokenPurpose, sign_id_token};
use super::outcome::Outcome;
use super::person::Person;
use super::provider::{Provider, RequestParams};
use super::settings::ProviderClient;
use super::state::{IdentityState, prepare_keys};

/// A query with the scopes with which a token has all claims that a provider can give.
const ALL_SCOPES: &str = "scope=openid+email+profile";

/// The form of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenForm {
    person: String,
    nonce: String,
}

/// Shows the page.
pub(super) async fn show_page(state: web::Data<IdentityState>, provider: web::Path<String>) -> HttpResponse {
    match state.find_client(&provider) {
        Some((provider, _)) => render_page(&state, provider, None),
        None => respond_unknown(&provider),
    }
}

/// Shows the page with a token for the chosen person. It changes nothing, so a foreign page gains nothing by posting.
pub(super) async fn create_token(
    state: web::Data<IdentityState>,
    provider: web::Path<String>,
    form: web::Form<TokenForm>,
) -> HttpResponse {
    let Some((provider, client)) = state.find_client(&provider) else {
        return respond_unknown(&provider);
    };
    if provider.id_token.is_some() {
        prepare_keys(&state).await;
    }
    let person = state.people.find(&form.person);
    let token = person.and_then(|person| issue_id_token(&state, provider, client, &person, &form.nonce));
    render_page(&state, provider, token.as_deref())
}

/// Signs an ID token as the SDK of a phone would get it; `None` for a provider that issues none.
///
/// The claim `nonce` holds the hash of the nonce, because applications send the nonce itself to the auth service and
/// its hash to the provider.
pub(super) fn issue_id_token(
    state: &IdentityState,
    provider: &'static Provider,
    client: &ProviderClient,
    person: &Person,
    nonce: &str,
) -> Option<String> {
    let id_token = provider.id_token.as_ref()?;
    let (person, was_known) = state.people.sign_in(&person.id, provider)?;
    let audience = client.client_ids.first().cloned().unwrap_or_default();
    let grant = Grant {
        request: Arc::new(AuthorizationRequest {
            provider,
            client_id: audience.clone(),
            redirect_uri: client.redirect_uri.clone(),
            params: RequestParams::parse(ALL_SCOPES),
            request_token: None,
        }),
        subject: person.ids.get(provider.name).cloned().unwrap_or_default(),
        is_first: !was_known,
        outcome: Outcome::Success,
        issued_at: unix_now(),
        person,
    };
    let hashed = match nonce {
        "" => String::new(),
        nonce => hex::encode(Sha256::digest(nonce)),
    };
    let purpose = TokenPurpose {
        audience: &audience,
        nonce: &hashed,
        access_token: "",
    };
    sign_id_token(state, client, id_token, &state.describe_account(&grant), &purpose)
}

fn respond_unknown(provider: &str) -> HttpResponse {
    respond_refusal(
        StatusCode::NOT_FOUND,
        "Not answered here",
        &format!("{provider:?} is no provider that the development sign-in answers for this project."),
    )
}

fn render_page(state: &IdentityState, provider: &Provider, token: Option<&str>) -> HttpResponse {
    let title = escape(provider.title);
    let people = state.people.list();
    let options: String = people
        .iter()
        .map(|person| {
            format!(
                "<option value=\"{}\">{} {}</option>",
                escape(&person.id),
                escape(&person.name),
                escape(person.address())
            )
        })
        .collect();
    let form = if provider.id_token.is_none() {
        format!("<p>{title} issues no ID tokens. Start a sign-in from the application.</p>")
    } else if people.is_empty() {
        "<p>Nobody has signed in yet. Start a sign-in from the application and add someone new.</p>"
            .to_owned()
    } else {
        format!(
            "<form method=\"post\"><p><label for=\"person\">Person</label><select id=\"person\" name=\"person\">{options}\
             </select></p><p><label for=\"nonce\">Nonce (optional)</label><input id=\"nonce\" name=\"nonce\" \
             autocomplete=\"off\"></p><p><button class=\"primary\">Make an ID token</button></p></form>"
        )
    };
    let shown = token.map_or_else(String::new, |token| {
        format!(
            "<section aria-labelledby=\"token-title\"><h2 id=\"token-title\">ID token</h2>\
             <p><label for=\"token\">Valid for one hour</label><textarea id=\"token\" rows=\"8\" readonly>{}</textarea></p>\
             </section>",
            escape(token)
        )
    });
    let body = format!(
        "<main><p class=\"badge\">Development sign-in</p><h1>ID token of {title}</h1>\
         <p>For <code>supabase.auth.signInWithIdToken({{ provider: \"{}\", token }})</code>.</p>{form}{shown}</main>",
        escape(provider.name)
    );
    respond_page(&format!("ID token of {}", provider.title), &body)
}
