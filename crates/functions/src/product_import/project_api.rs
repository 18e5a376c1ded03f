//! Calls of the project's own API: REST for products and brands, Storage for the picture. They carry the caller's token, so
//! row-level security applies.

use actix_web::http::header::HeaderValue;
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, HeaderName};
use secrecy::ExposeSecret;
use selvedge_http_client::{Call, CallResponse, HttpClient};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::config::ProductImportConfig;
use super::response::ImportFailure;

const API_KEY: HeaderName = HeaderName::from_static("apikey");

/// The project's data about a product, returned by the function named in `check`.
#[derive(Debug, Deserialize)]
pub(super) struct KnownProduct {
    /// The item with this address or number.
    #[serde(default)]
    pub(super) item_id: Option<String>,
    /// The brand with this name, if the project has one.
    #[serde(default)]
    pub(super) brand_id: Option<String>,
}

/// The project's API, called with the caller's token.
pub(super) struct ProjectApi {
    config: ProductImportConfig,
    http: HttpClient,
}

impl ProjectApi {
    pub(super) fn new(config: ProductImportConfig) -> Self {
        Self {
            config,
            // Private addresses are allowed, because the API is on this machine or in its network.
            http: HttpClient::new(true),
        }
    }

    /// Checks that the caller may import, and returns the project's data about the product.
    pub(super) async fn check_product(
        &self,
        token: &HeaderValue,
        source_url: &str,
        product_id: u64,
        brand: Option<&str>,
    ) -> Result<KnownProduct, ImportFailure> {
        let url = format!("{}/rest/v1/rpc/{}", self.config.api_url, self.config.check);
        let body = json!({ "source_url": source_url, "product_id": product_id, "brand": brand });
        let call = Call::post(url, "application/json", body.to_string());
        let response = self.send(call, token).await?;
        match response.status {
            200 => response
                .json()
                .ok()
                .and_then(|known| serde_json::from_value(known).ok())
                .ok_or_else(|| ImportFailure::Project("the check answered something unexpected".to_owned())),
            401 | 403 => Err(ImportFailure::NotAllowed),
            status => Err(ImportFailure::Project(format!(
                "the check answered status {status}"
            ))),
        }
    }

    /// Stores a picture under a new name. Answers its root-relative address, as columns of the project hold it.
    pub(super) async fn upload_picture(
        &self,
        token: &HeaderValue,
        jpeg: Vec<u8>,
    ) -> Result<String, ImportFailure> {
        let ProductImportConfig {
            api_url,
            bucket,
            folder,
            ..
        } = &self.config;
        let path = format!("{bucket}/{folder}/{}.jpg", Uuid::new_v4());
        let call = Call::post(format!("{api_url}/storage/v1/object/{path}"), "image/jpeg", jpeg)
            .header(CACHE_CONTROL, "max-age=31536000");
        let response = self.send(call, token).await?;
        match response.status {
            200 => Ok(format!("/storage/v1/object/public/{path}")),
            401 | 403 => Err(ImportFailure::NotAllowed),
            status => Err(ImportFailure::Project(format!(
                "the picture was refused with status {status}"
            ))),
        }
    }

    async fn send(&self, call: Call, token: &HeaderValue) -> Result<CallResponse, ImportFailure> {
        let token = token.to_str().unwrap_or_default();
        let call = call
            .header(API_KEY, self.config.anon_key.expose_secret())
            .header(AUTHORIZATION, token);
        let sent = self.http.send(call).await;
        sent.map_err(|error| ImportFailure::Project(format!("the project's API: {error}")))
    }
}
