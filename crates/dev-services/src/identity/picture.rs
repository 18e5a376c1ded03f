//! `GET /sign-in/pictures/{id}.svg`: a drawn picture with the initials of a person, for those without a picture.

use actix_web::http::header;
use actix_web::{HttpResponse, web};

use super::html::escape;
use super::state::IdentityState;

/// Backgrounds, dark enough for white letters.
const COLORS: [&str; 6] = ["#2f5d50", "#7a4b2a", "#3f4a8a", "#7b3358", "#4a5a23", "#5b4478"];

/// Answers with the picture of any known person.
pub(super) async fn get_picture(state: web::Data<IdentityState>, name: web::Path<String>) -> HttpResponse {
    let id = name.strip_suffix(".svg").unwrap_or(&name);
    let Some(person) = state.people.find(id) else {
        return HttpResponse::NotFound().finish();
    };
    let color = COLORS[person.id.bytes().map(usize::from).sum::<usize>() % COLORS.len()];
    let body = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"96\" height=\"96\" viewBox=\"0 0 96 96\">\
         <rect width=\"96\" height=\"96\" fill=\"{color}\"/><text x=\"48\" y=\"49\" fill=\"#fff\" font-size=\"38\" \
         font-family=\"system-ui, sans-serif\" text-anchor=\"middle\" dominant-baseline=\"central\">{}</text></svg>",
        escape(&person.initials())
    );
    HttpResponse::Ok()
        .content_type("image/svg+xml")
        // Opened by itself, a picture is a document: it may not run scripts.
        .insert_header((header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header(("Cross-Origin-Resource-Policy", "cross-origin"))
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .body(body)
}
