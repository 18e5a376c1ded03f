//! The page at `/` of a project without a site.

use actix_web::http::header;
use actix_web::{HttpResponse, web};

/// The page, rendered once at the start.
pub struct StatusPage {
    html: String,
}

impl StatusPage {
    /// The page of `start`: addresses, the publishable key and how to connect.
    pub fn for_development(project: &str, api_url: &str, key: &str, inbox_url: Option<&str>) -> Self {
        let inbox = inbox_url.map_or_else(String::new, |url| {
            let url = escape_html(url);
            format!("<dt>Mail inbox</dt><dd><a href=\"{url}\">{url}</a></dd>")
        });
        let html = include_str!("status_page.html")
            .replace("{project}", &escape_html(project))
            .replace("{version}", env!("CARGO_PKG_VERSION"))
            .replace("{api_url}", &escape_html(api_url))
            .replace("{key}", &escape_html(key))
            .replace("{inbox}", &inbox);
        Self { html }
    }

    /// Returns the page of `serve`: it only says that the server runs, because everybody can see it.
    pub fn for_production() -> Self {
        Self {
            html: include_str!("running_page.html").to_owned(),
        }
    }
}

/// `GET /`: the page, which may load nothing from elsewhere.
pub async fn show_status_page(page: web::Data<StatusPage>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        // The page shows a key, so nothing foreign may run in it or frame it.
        .insert_header((
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
        ))
        .body(page.html.clone())
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_page_escapes_html_in_project_name_and_urls() {
        let page = StatusPage::for_development("<b>", "http://x/?a=\"", "key", Some("http://inbox"));

        assert!(page.html.contains("&lt;b&gt;") && !page.html.contains("<b>"));
        assert!(page.html.contains("href=\"http://inbox\""));
        assert!(!page.html.contains("{inbox}") && !page.html.contains("{key}"));
    }
}
