//! The HTML page of the inbox, and the body of one mail for the frame inside it.

use actix_web::{HttpResponse, web};

use super::Inbox;

/// Content-Security-Policy of the page: it loads nothing from other origins, and frames only bodies of this origin.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
                           img-src data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Content-Security-Policy of a mail's body. A mail's HTML may contain text of users, so it runs in a sandbox with a unique
/// origin, without scripts and forms; links may open a tab.
const BODY_POLICY: &str = "sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation; \
                           script-src 'none'; object-src 'none'; form-action 'none'";

/// `GET /` → the page.
pub(super) async fn get_page() -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header(("Content-Security-Policy", PAGE_POLICY))
        .insert_header(("Referrer-Policy", "no-referrer"))
        .insert_header(("Cache-Control", "no-cache"))
        .body(include_str!("page.html"))
}

/// `GET /view/{id}.html` and `/view/{id}.txt`
pub(super) async fn view_body(inbox: web::Data<Inbox>, name: web::Path<String>) -> HttpResponse {
    // Ids hold no dots, so the part behind the last dot is the extension.
    let (id, extension) = name.rsplit_once('.').unwrap_or((&name, "html"));
    let Some(mail) = inbox.find_mail(id) else {
        return HttpResponse::NotFound()
            .content_type("text/plain")
            .body("message not found");
    };
    if extension == "txt" || mail.html.is_empty() {
        return HttpResponse::Ok()
            .content_type("text/plain; charset=utf-8")
            .body(mail.text.clone());
    }
    HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header(("Content-Security-Policy", BODY_POLICY))
        .insert_header(("Referrer-Policy", "no-referrer"))
        .insert_header(("X-Content-Type-Options", "nosniff"))
        // Without `_blank` a link would open inside the frame, where the sandbox blocks most sites.
        .body(format!("<base target=\"_blank\">{}", mail.html))
}
