//! The sign-in page: the people who are known, a form for someone new, and the ways in which a sign-in fails.
//!
//! It needs no script. Each of its parts is a form, so that the Enter key in a field submits that part.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};

use super::grants::AuthorizationRequest;
use super::html::{escape, respond_page, respond_page_with};
use super::outcome::{Outcome, WITH_PERSON};
use super::person::{FieldError, Person, PersonFields};
use super::providers::find_provider;
use super::settings::ROOT;
use super::state::IdentityState;

mod fields;

use fields::{Field, render_field};

/// Value of `person` for a new person.
pub(super) const NEW_PERSON: &str = "new";

/// The page's content besides the list of people.
pub(super) struct PageState<'a> {
    /// Name of the pending request, by which the forms find it.
    request_id: &'a str,
    request: &'a AuthorizationRequest,
    /// The fields of someone new, as they were sent when something was wrong with them.
    fields: PersonFields,
    errors: Vec<FieldError>,
    outcome: Outcome,
}

impl<'a> PageState<'a> {
    /// The page as it is first shown; `login_hint` fills in the address of someone new.
    pub(super) fn new(request_id: &'a str, request: &'a AuthorizationRequest) -> Self {
        let hint = request.param("login_hint");
        Self {
            request_id,
            request,
            fields: PersonFields {
                email: hint.contains('@').then(|| hint.to_owned()),
                ..PersonFields::default()
            },
            errors: Vec::new(),
            outcome: Outcome::Success,
        }
    }

    /// The page after a form that cannot be used, with everything that was entered.
    pub(super) fn with_errors(
        mut self,
        fields: PersonFields,
        errors: Vec<FieldError>,
        outcome: Outcome,
    ) -> Self {
        self.fields = fields;
        self.errors = errors;
        self.outcome = outcome;
        self
    }
}

/// `GET /sign-in`: which providers are answered here, with their pages for ID tokens.
pub(super) async fn show_overview(state: web::Data<IdentityState>) -> HttpResponse {
    let clients = &state.settings.clients;
    let links: String = clients
        .iter()
        .filter_map(|client| find_provider(&client.provider))
        .map(|provider| {
            format!(
                "<li><a href=\"{ROOT}/{}\">{}</a></li>",
                escape(provider.name),
                escape(provider.title)
            )
        })
        .collect();
    let list = if links.is_empty() {
        "<p>No provider is answered here: each enabled one has credentials.</p>".to_owned()
    } else {
        format!("<p>Answered here, as they have no credentials:</p><ul>{links}</ul>")
    };
    let body = format!(
        "<main><p class=\"badge\">Development sign-in</p><h1>Identity providers</h1>{list}\
         <p class=\"soft\">{} people are known.</p></main>",
        state.people.list().len()
    );
    respond_page("Identity providers", &body)
}

/// The sign-in page of a request.
pub(super) fn render_sign_in_page(state: &IdentityState, page: &PageState<'_>) -> HttpResponse {
    let provider = page.request.provider;
    let title = format!("Sign in with {}", provider.title);
    let body = format!(
        "<main><p class=\"badge\">Development sign-in</p><h1>{}</h1>\
         <p class=\"soft\">to continue to <strong>{}</strong></p>\
         <p class=\"notice\">This page is not {name}. <code>selvedge start</code> answers in its place, because \
         <code>[auth.external.{}]</code> has no credentials or development sign-in is forced for it. Nothing leaves this machine.</p>{}{}{}</main>",
        escape(&title),
        escape(&state.settings.project),
        escape(provider.name),
        render_people(state, page),
        render_new_person(page),
        render_failures(page),
        name = escape(provider.title),
    );
    // 422 lets tests and tools see that the form was not accepted.
    let status = if page.errors.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    respond_page_with(status, &title, &body)
}

fn render_people(state: &IdentityState, page: &PageState<'_>) -> String {
    let mut people = state.people.list();
    if people.is_empty() {
        return String::new();
    }
    // The person whom the application expects comes first, as on the real page.
    let hint = page.request.param("login_hint").to_lowercase();
    people.sort_by_key(|person| hint.is_empty() || person.address().to_lowercase() != hint);
    let items: String = people.iter().map(|person| render_person(state, person)).collect();
    format!(
        "<section aria-labelledby=\"people-title\"><h2 id=\"people-title\">Choose a person</h2>{}{}\
         <ul class=\"people\">{items}</ul></form></section>",
        open_form(page),
        render_outcomes("people-outcome", page.outcome),
    )
}

fn render_person(state: &IdentityState, person: &Person) -> String {
    let address = match &person.email {
        Some(email) if person.email_verified => escape(email),
        Some(email) => format!("{} (not verified)", escape(email)),
        None => "no e-mail address".to_owned(),
    };
    format!(
        "<li><button class=\"person\" name=\"person\" value=\"{}\"><img src=\"{}\" alt=\"\">\
         <span><strong>{}</strong><small>{address}</small></span></button></li>",
        escape(&person.id),
        escape(&state.picture_url(person)),
        escape(&person.name),
    )
}

fn render_new_person(page: &PageState<'_>) -> String {
    let fields = &page.fields;
    let provider = page.request.provider;
    let own_id = fields.ids.get(provider.name).map_or("", String::as_str);
    let is_verified = if fields.email_verified.unwrap_or(true) {
        " checked"
    } else {
        ""
    };
    let inputs = [
        Field::new("name", "Name", &fields.name).required(),
        Field::new(
            "email",
            "E-mail address",
            fields.email.as_deref().unwrap_or_default(),
        )
        .of_type("email")
        .hinted("Leave it empty for an account without an address."),
    ]
    .map(|field| render_field(&field, &page.errors))
    .concat();
    let more = [
        Field::new(
            "picture",
            "Picture (URL)",
            fields.picture.as_deref().unwrap_or_default(),
        )
        .of_type("url")
        .hinted("Without one, the initials are drawn."),
        Field::new("provider_id", "Id at the provider", own_id)
            .with_errors_of("ids")
            .hinted("Without one, an id is made up."),
    ]
    .map(|field| render_field(&field, &page.errors))
    .concat();
    format!(
        "<section aria-labelledby=\"new-title\"><h2 id=\"new-title\">Someone new</h2>{}{inputs}\
         <label class=\"check\"><input type=\"checkbox\" name=\"email_verified\"{is_verified}> The address is \
         verified</label>{more}{}<p><button class=\"primary\" name=\"person\" value=\"{NEW_PERSON}\">Sign in as \
         someone new</button></p></form></section>",
        open_form(page),
        render_outcomes("new-outcome", page.outcome),
    )
}

fn render_failures(page: &PageState<'_>) -> String {
    format!(
        "<section aria-labelledby=\"failure-title\"><h2 id=\"failure-title\">Nobody signs in</h2>{}\
         <div class=\"row\"><button class=\"plain\" name=\"outcome\" value=\"cancelled\">Cancel</button>\
         <button class=\"plain\" name=\"outcome\" value=\"provider_error\">The provider fails</button></div></form>\
         </section>",
        open_form(page),
    )
}

/// The start of a form that belongs to the pending request.
fn open_form(page: &PageState<'_>) -> String {
    format!(
        "<form method=\"post\" action=\"{ROOT}/{}/choose\"><input type=\"hidden\" name=\"request\" value=\"{}\">",
        escape(page.request.provider.name),
        escape(page.request_id)
    )
}

/// Renders the choice of the sign-in's outcome.
fn render_outcomes(id: &str, chosen: Outcome) -> String {
    let options: String = WITH_PERSON
        .iter()
        .map(|(outcome, name, label)| {
            let selected = if *outcome == chosen { " selected" } else { "" };
            format!("<option value=\"{name}\"{selected}>{label}</option>")
        })
        .collect();
    format!(
        "<p><label for=\"{id}\">What happens then</label><select id=\"{id}\" name=\"outcome\">{options}</select></p>"
    )
}
