//! The single-page site that the binary serves at `/`.
//!
//! A built site (Vite's `dist/`) is read into memory once. Files below `/assets/` have a hash of their content in the name, so
//! browsers may cache them for ever; everything else is revalidated by ETag. A path of a page gets
//! `index.html`, whose router shows the page; a missing file gets a 404. Files are compressed after the start, in the background.

mod asset;
mod card;
mod files;
mod head;
mod page_meta;
mod policy;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use actix_web::http::{Method, StatusCode, header};
use actix_web::{HttpRequest, HttpResponse, web};
use anyhow::{Result, bail};
use selvedge_gateway::{Caller, GatewayError};
use selvedge_postgres::RequestPool;
use selvedge_storage::ServiceObjects;

use asset::Asset;
use card::{CardRequest, Cards};
use files::read_assets;
use page_meta::MetaPage;
pub use page_meta::PageMetaFunction;

/// A site in memory.
pub struct Site {
    /// Files by path without the leading slash.
    assets: HashMap<String, Asset>,
    /// The `Content-Security-Policy` of HTML pages.
    policy: header::HeaderValue,
    /// `index.html` with the key, from which the pages of [`PageMetaFunction`] are written.
    index: String,
    /// Where the site is reached from outside.
    origin: String,
    page_meta: Option<PageMetaFunction>,
    cards: Cards,
}

/// What pages are written from, on one worker thread.
#[derive(Clone, Copy)]
pub struct SiteSources<'a> {
    /// The connections on which the project's function for page heads is called.
    pub requests: &'a RequestPool,
    /// The pictures of cards; `None` without a renderer of pictures.
    pub pictures: Option<&'a ServiceObjects>,
}

impl Site {
    /// Reads a built site. Its scripts may connect to their own origin and to `api_origin`.
    ///
    /// # Errors
    /// When the folder has no `index.html` or more than 512 MiB, a link in it leads out of it, or a file cannot be read.
    pub fn load(
        folder: &Path,
        browser_key: &str,
        api_origin: &str,
        picture_origin: Option<&str>,
        page_meta: Option<PageMetaFunction>,
    ) -> Result<Arc<Self>> {
        let index = folder.join("index.html");
        if !index.is_file() {
            bail!(
                "selvedge.site: {} does not exist; build the site first, or take the key out of config.toml",
                index.display()
            );
        }
        let assets = read_assets(folder, browser_key)?;
        let index = assets.get("index.html").map(Asset::text).unwrap_or_default();
        let policy = policy::content_security_policy(&index, api_origin, picture_origin);
        Ok(Arc::new(Self {
            assets,
            policy,
            index,
            origin: api_origin.to_owned(),
            page_meta,
            cards: Cards::new(),
        }))
    }

    /// Compresses every file that gains from it. This takes up to seconds of CPU; run it on a background thread.
    pub fn compress(&self) {
        self.assets.values().for_each(Asset::compress);
    }

    /// The response to a request that no service's route matches. Without `sources` pages are sent as they were built.
    pub async fn respond(&self, request: &HttpRequest, sources: Option<SiteSources<'_>>) -> HttpResponse {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return GatewayError::NoRoute.response();
        }
        let path = request.match_info().as_str().trim_start_matches('/');
        let name = if path.is_empty() { "index.html" } else { path };
        if let Some(asked) = CardRequest::parse(path, request.query_string()) {
            return self
                .respond_card(request, &asked, sources)
                .await
                .unwrap_or_else(not_found);
        }
        match self.assets.get(name) {
            Some(asset) if name != "index.html" => asset.respond(request, StatusCode::OK, &self.policy),
            None if is_generated_file(name) => self
                .respond_from_meta(request, sources)
                .await
                .unwrap_or_else(not_found),
            None if !is_page_path(request) => not_found(),
            _ => self
                .respond_from_meta(request, sources)
                .await
                .unwrap_or_else(|| self.respond_index(request)),
        }
    }

    async fn respond_from_meta(
        &self,
        request: &HttpRequest,
        sources: Option<SiteSources<'_>>,
    ) -> Option<HttpResponse> {
        let page = self.find_page(request.match_info().as_str(), sources?).await?;
        Some(page.asset.respond(request, page.status, &self.policy))
    }

    async fn respond_card(
        &self,
        request: &HttpRequest,
        asked: &CardRequest,
        sources: Option<SiteSources<'_>>,
    ) -> Option<HttpResponse> {
        let sources = sources?;
        let pictures = sources.pictures?;
        let page = self.find_page(&asked.page, sources).await?;
        let drawing = (pictures, Caller::client_of(request));
        Some(self.cards.respond(asked, page.card.as_ref()?, drawing).await)
    }

    async fn find_page(&self, path: &str, sources: SiteSources<'_>) -> Option<Arc<MetaPage>> {
        let function = self.page_meta.as_ref()?;
        let draws_cards = sources.pictures.is_some();
        function
            .find_page(sources.requests, path, &self.index, (&self.origin, draws_cards))
            .await
    }

    fn respond_index(&self, request: &HttpRequest) -> HttpResponse {
        let page = self.assets.get("index.html");
        page.map_or_else(not_found, |page| {
            page.respond(request, StatusCode::OK, &self.policy)
        })
    }
}

/// Whether a path without a file may be a page of the application.
///
/// Crawlers and messengers that fetch a shared link send `Accept: */*`, so the header cannot be required. Without
/// `text/html` in it, a path that ends in a known file extension is a missing file: a script that requests it must not
/// get HTML. Unknown extensions stay pages, because a path such as `/mira.k` may be a user's name.
fn is_page_path(request: &HttpRequest) -> bool {
    let path = request.match_info().as_str();
    if path.starts_with("/assets/") {
        return false;
    }
    let accepts_html = request
        .headers()
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"));
    accepts_html || mime_guess::from_path(path).is_empty()
}

/// Files for crawlers, which the project's function may generate when the site does not contain them.
fn is_generated_file(name: &str) -> bool {
    matches!(name, "robots.txt" | "sitemap.xml")
}

fn not_found() -> HttpResponse {
    HttpResponse::NotFound()
        // After a deployment a file that was missing may exist; a cached 404 would hide it.
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .content_type("text/plain; charset=utf-8")
        .body("There is nothing here.\n")
}

/// The handler of a server that serves nothing but the site.
pub async fn serve_site(site: web::Data<Site>, request: HttpRequest) -> HttpResponse {
    site.respond(&request, None).await
}

#[cfg(test)]
mod tests;
