//! The response of an import: the product, or `{error}` with a text for the administrator.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header;
use selvedge_product_import::{ImportError, Product};
use serde_json::{Value, json};

/// Why an import has no product.
#[derive(Debug, thiserror::Error)]
pub(super) enum ImportFailure {
    #[error("Only an administrator may do this.")]
    NotAllowed,
    #[error("Only POST is answered.")]
    MethodNotAllowed,
    #[error("The body is not of the form {{\"url\": \"…\"}}.")]
    BadBody,
    /// `item_id` is the item with the same address or number.
    #[error("Product already exists")]
    AlreadyExists { item_id: String },
    #[error("Too many imports. Please try again in a minute.")]
    TooMany { retry_after: Duration },
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The project's own API refused a call; the text is its message.
    #[error("{0}")]
    Project(String),
}

impl ImportFailure {
    fn status(&self) -> StatusCode {
        match self {
            Self::NotAllowed => StatusCode::FORBIDDEN,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::BadBody | Self::Import(ImportError::NotAProduct) => StatusCode::BAD_REQUEST,
            Self::AlreadyExists { .. } => StatusCode::CONFLICT,
            Self::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Import(ImportError::MissingData | ImportError::BadPicture) => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            Self::Import(ImportError::Timeout(_)) => StatusCode::GATEWAY_TIMEOUT,
            Self::Import(_) => StatusCode::BAD_GATEWAY,
            Self::Project(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    pub(super) fn response(&self) -> HttpResponse {
        let mut body = json!({ "error": self.to_string() });
        let mut response = HttpResponse::build(self.status());
        match self {
            Self::AlreadyExists { item_id } => body["itemId"] = Value::from(item_id.as_str()),
            Self::TooMany { retry_after } => {
                response.insert_header((header::RETRY_AFTER, retry_after.as_secs() + 1));
            }
            Self::Project(reason) => tracing::error!(reason, "an import failed at the project's own API"),
            Self::Import(error) => tracing::info!(%error, "an import failed"),
            _ => {}
        }
        response.json(body)
    }
}

/// The product as the site expects it. `image` is the address of our copy.
pub(super) fn render_product(
    product: &Product,
    source_url: &str,
    image: &str,
    brand_id: Option<String>,
) -> HttpResponse {
    HttpResponse::Ok().json(json!({
        "name": product.name,
        "brand": product.brand,
        "description": product.description,
        "price": product.price,
        "currency": product.currency,
        "image": image,
        "productId": product.product_id,
        "gender": product.gender.map(selvedge_product_import::Gender::as_str),
        "sourceUrl": source_url,
        "brandId": brand_id,
    }))
}
