//! The single-page site that the binary serves at `/`.
//!
//! A built site (Vite's `dist/`) is read into memory once. Files below `/assets/` carry a hash in their
//! names and are cached for good; everything else is revalidated by ETag. Navigations to paths that are no
//! files get `index.html`; missing assets get a 404. Compressed forms are made in the background after the
//! start, so that they cost no start-up time.

mod asset;
mod policy;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use actix_web::http::{Method, StatusCode, header};
use actix_web::{HttpRequest, HttpResponse, web};
use anyhow::{Context, Result, bail};

use asset::Asset;
use selvedge_gateway::GatewayError;

/// Stands for the publishable key in `index.html`.
const KEY_PLACEHOLDER: &str = "%SELVEDGE_PUBLISHABLE_KEY%";

/// A site in memory.
pub struct Site {
    /// By path without the leading slash.
    assets: HashMap<String, Asset>,
    /// `Content-Security-Policy` of the pages.
    policy: header::HeaderValue,
}

impl Site {
    /// Reads a built site. `api_origin` is where its scripts may connect to besides their own origin.
    ///
    /// # Errors
    /// When the folder has no `index.html`, or a file cannot be read.
    pub fn load(folder: &Path, browser_key: &str, api_origin: &str) -> Result<Arc<Self>> {
        let index = folder.join("index.html");
        if !index.is_file() {
            bail!(
                "selvedge.site: {} does not exist; build the site first, or take the key out of config.toml",
                index.display()
            );
        }
        let mut assets = HashMap::new();
        for entry in walkdir::WalkDir::new(folder).follow_links(true) {
            let entry = entry.with_context(|| format!("reading the site {}", folder.display()))?;
            let path = entry.path();
            let Some(name) = path.strip_prefix(folder).ok().and_then(Path::to_str) else {
                continue;
            };
            let is_compressed_twin = ["br", "gz"]
                .iter()
                .any(|kind| path.extension().is_some_and(|extension| extension == *kind))
                && path.with_extension("").is_file();
            if !entry.file_type().is_file() || is_compressed_twin {
                continue;
            }
            let name = name.replace(std::path::MAIN_SEPARATOR, "/");
            let asset = if name == "index.html" {
                let text = std::fs::read_to_string(path)
                    .with_context(|| format!("reading {}", path.display()))?
                    .replace(KEY_PLACEHOLDER, browser_key);
                Asset::new(&name, text.into_bytes())
            } else {
                Asset::read(&name, path).with_context(|| format!("reading {}", path.display()))?
            };
            assets.insert(name, asset);
        }
        let page = assets.get("index.html").map(Asset::text).unwrap_or_default();
        let policy = policy::content_security_policy(&page, api_origin);
        Ok(Arc::new(Self { assets, policy }))
    }

    /// Makes the compressed forms of everything worth it. Takes a moment; meant for a background thread.
    pub fn compress(&self) {
        self.assets.values().for_each(Asset::compress);
    }

    /// The answer to a request that no service took.
    pub fn answer(&self, request: &HttpRequest) -> HttpResponse {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return GatewayError::NoRoute.response();
        }
        let path = request.match_info().as_str().trim_start_matches('/');
        let name = if path.is_empty() { "index.html" } else { path };
        match self.assets.get(name) {
            Some(asset) => asset.answer(request, StatusCode::OK, &self.policy),
            None if is_navigation(request) => self.index(request),
            None => missing(),
        }
    }

    fn index(&self, request: &HttpRequest) -> HttpResponse {
        let page = self.assets.get("index.html");
        page.map_or_else(missing, |page| page.answer(request, StatusCode::OK, &self.policy))
    }
}

/// Whether a browser asks for a page: it says so itself, and assets are never pages.
fn is_navigation(request: &HttpRequest) -> bool {
    let accepts_html = request
        .headers()
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"));
    accepts_html && !request.match_info().as_str().starts_with("/assets/")
}

fn missing() -> HttpResponse {
    HttpResponse::NotFound()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .content_type("text/plain; charset=utf-8")
        .body("There is nothing here.\n")
}

/// The handler behind everything else.
pub async fn serve(site: web::Data<Site>, request: HttpRequest) -> HttpResponse {
    site.answer(&request)
}

#[cfg(test)]
mod tests;
