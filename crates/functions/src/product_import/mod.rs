//! The native function `fetch-farfetch`: an administrator sends the address of a product page and gets the product, with
//! its picture stored in a bucket of the project. It calls the project's API with the caller's token, as every function
//! does, so the project's own rules decide who may import and who may upload.

mod config;
mod import_limit;
mod project_api;
mod response;

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use futures_util::future::LocalBoxFuture;
use selvedge_gateway::{Bearer, BodyForm, BodyLimits, Caller, read_body};
use selvedge_product_import::{Downloader, ImportError, PageAddress, Product, encode_picture};
use serde::Deserialize;

use crate::native::{NativeFunction, NativeRequest};
pub use config::ProductImportConfig;
use import_limit::ImportLimit;
use project_api::{KnownProduct, ProjectApi};
use response::{ImportFailure, render_product};

/// The name in the URL, which the site calls.
const SLUG: &str = "fetch-farfetch";
/// A body holds one address.
const LONGEST_BODY: usize = 16 * 1024;
/// How long it may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// The native function `fetch-farfetch`.
pub struct ProductImport {
    shared: Arc<Shared>,
}

struct Shared {
    api: ProjectApi,
    downloader: Downloader,
    limit: ImportLimit,
}

/// `{"url": "https://www.farfetch.com/…-item-123.aspx"}`.
#[derive(Deserialize)]
struct ImportBody {
    url: String,
}

impl ProductImport {
    pub fn new(config: ProductImportConfig) -> Self {
        Self {
            shared: Arc::new(Shared {
                downloader: Downloader::new(config.retailer.clone(), config.addresses.clone()),
                limit: ImportLimit::new(config.per_minute),
                api: ProjectApi::new(config),
            }),
        }
    }
}

impl NativeFunction for ProductImport {
    fn slug(&self) -> &str {
        SLUG
    }

    /// `POST {url}` → 200 `{name, brand, description, price, currency, image, productId, gender, sourceUrl, brandId}`, or
    /// `{error}` with 400, 401, 403, 405, 409, 422, 429, 502 or 504.
    fn call(&self, request: NativeRequest) -> LocalBoxFuture<'static, HttpResponse> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            match shared.import_product(request).await {
                Ok(response) => response,
                Err(failure) => failure.response(),
            }
        })
    }
}

impl Shared {
    async fn import_product(&self, request: NativeRequest) -> Result<HttpResponse, ImportFailure> {
        if request.method != Method::POST {
            return Err(ImportFailure::MethodNotAllowed);
        }
        let person = find_person(&request.caller).ok_or(ImportFailure::NotAllowed)?;
        let token = request.headers.get(header::AUTHORIZATION).cloned();
        let token = token.ok_or(ImportFailure::NotAllowed)?;
        let limits = BodyLimits {
            pause: Some(BODY_TIMEOUT),
            duration: Some(BODY_TIMEOUT),
            ..BodyLimits::of_caller(LONGEST_BODY, BodyForm::Json, &request.caller)
        };
        let body = read_body(request.body, limits).await;
        let read = body.map_err(|_| ImportFailure::BadBody);
        let address = match read.and_then(|body| self.read_address(&body)) {
            Ok(address) => address,
            Err(failure) => return Err(self.refuse_person_first(&token, failure).await),
        };
        let source_url = address.url.as_str();
        // Before anything is fetched, so that callers without permission cannot make this server send requests.
        self.api
            .check_product(&token, source_url, address.product_id, None)
            .await?
            .refuse_existing()?;
        self.limit.count_import(&person)?;
        let product = self.downloader.fetch_product(&address).await?;
        let known = self
            .api
            .check_product(&token, source_url, product.product_id, product.brand.as_deref())
            .await?;
        let image = self.store_picture(&token, &product).await?;
        Ok(render_product(&product, source_url, &image, known.brand_id))
    }

    /// The product's address in the body of a request.
    fn read_address(&self, body: &[u8]) -> Result<PageAddress, ImportFailure> {
        let body: ImportBody = serde_json::from_slice(body).map_err(|_| ImportFailure::BadBody)?;
        Ok(self.downloader.retailer().parse_address(&body.url)?)
    }

    /// The answer to a request of a person that names no product. The project's check is asked about an empty product first, so that whoever
    /// may not import is told that and nothing else.
    async fn refuse_person_first(&self, token: &HeaderValue, failure: ImportFailure) -> ImportFailure {
        match self.api.check_product(token, "", 0, None).await {
            Err(ImportFailure::NotAllowed) => ImportFailure::NotAllowed,
            _ => failure,
        }
    }

    /// Fetches the retailer's picture, encodes it anew and uploads it in the caller's name.
    async fn store_picture(&self, token: &HeaderValue, product: &Product) -> Result<String, ImportFailure> {
        let file = self.downloader.fetch_picture(&product.picture).await?;
        let jpeg = tokio::task::spawn_blocking(move || encode_picture(&file))
            .await
            .map_err(|_| ImportError::BadPicture)??;
        self.api.upload_picture(token, jpeg).await
    }
}

impl KnownProduct {
    fn refuse_existing(self) -> Result<(), ImportFailure> {
        match self.item_id {
            Some(item_id) => Err(ImportFailure::AlreadyExists { item_id }),
            None => Ok(()),
        }
    }
}

/// Returns the caller's user id; `None` for keys of the project.
fn find_person(caller: &Caller) -> Option<String> {
    match caller.bearer() {
        Bearer::Valid(claims) => claims.subject().map(str::to_owned),
        Bearer::None | Bearer::Invalid(_) => None,
    }
}
