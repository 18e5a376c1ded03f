//! The page at `/` when the project has no site of its own.

use actix_web::http::header;
use actix_web::{HttpResponse, web};

/// What the page shows; rendered once.
pub struct StatusPage {
    html: String,
}

impl StatusPage {
    /// The page of `start`: addresses, the browser's key and how to connect.
    pub fn for_development(project: &str, api_url: &str, key: &str, inbox_url: Option<&str>) -> Self {
        let inbox = inbox_url.map_or_else(String::new, |url| {
            let url = escape(url);
            format!("<dt>Mail inbox</dt><dd><a href=\"{url}\">{url}</a></dd>")
        });
        let html = include_str!("status_page.html")
            .replace("{project}", &escape(project))
            .replace("{version}", env!("CARGO_PKG_VERSION"))
            .replace("{api_url}", &escape(api_url))
            .replace("{key}", &escape(key))
            .replace("{inbox}", &inbox);
        Self { html }
    }

    /// The page of `serve`: that it runs, and nothing else.
    pub fn for_production() -> Self {
        Self {
            html: include_str!("running_page.html").to_owned(),
        }
    }
}

/// `GET /`
pub async fn show(page: web::Data<StatusPage>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
        ))
        .body(page.html.clone())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_escapes_what_projects_choose() {
        let page = StatusPage::for_development("<b>", "http://x/?a=\"", "key", Some("http://inbox"));

        assert!(page.html.contains("&lt;b&gt;") && !page.html.contains("<b>"));
        assert!(page.html.contains("href=\"http://inbox\""));
        assert!(!page.html.contains("{inbox}") && !page.html.contains("{key}"));
    }
}
