//! The frame of every page: head, styles, policy, and the escaping of texts.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, HttpResponseBuilder};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("page/page.css");

/// The only script: it submits the form of `response_mode=form_post`.
const SUBMIT_SCRIPT: &str = "document.forms[0].submit()";

/// Escapes a text for element content and quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A page with status 200; `body` is HTML.
pub(super) fn respond_page(title: &str, body: &str) -> HttpResponse {
    respond_page_with(StatusCode::OK, title, body)
}

/// A page with any status; `body` is HTML.
pub(super) fn respond_page_with(status: StatusCode, title: &str, body: &str) -> HttpResponse {
    // Only this script may run, by its hash: a script in a person's name would not run, even if it were not escaped. There
    // is no `form-action`, because browsers also apply it to redirects after a form, which lead to the application.
    let script = STANDARD.encode(Sha256::digest(SUBMIT_SCRIPT));
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script}'; img-src 'self' data: http: https:; \
         base-uri 'none'; frame-ancestors 'none'"
    );
    HttpResponseBuilder::new(status)
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CONTENT_SECURITY_POLICY, policy))
        .insert_header((header::REFERRER_POLICY, "no-referrer"))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <title>{} · development sign-in</title><link rel=\"icon\" href=\"data:,\"><style>{STYLE}</style></head><body>{body}</body></html>",
            escape(title)
        ))
}

/// A page that says why a request is refused. The browser is not redirected, because the callback URL is not trusted.
pub(super) fn respond_refusal(status: StatusCode, title: &str, text: &str) -> HttpResponse {
    let body = format!(
        "<main><p class=\"badge\">Development sign-in</p><h1>{}</h1><p>{}</p></main>",
        escape(title),
        escape(text)
    );
    respond_page_with(status, title, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_people_cannot_end_an_attribute_or_start_an_element() {
        assert_eq!(
            escape("\"><script>alert('x')</script>&"),
            "&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;"
        );
    }
}
