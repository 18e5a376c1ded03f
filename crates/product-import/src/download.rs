//! Fetches pages and pictures of a retailer. Each address is checked before it is called, those of redirects included;
//! the client below resolves a name once, refuses private addresses and connects to exactly what it has resolved.

use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, LOCATION, USER_AGENT,
};
use selvedge_http_client::{Addresses, Call, CallResponse, HttpClient};
use tokio::time::Instant;
use url::Url;

use crate::error::ImportError;
use crate::page::{Product, read_page};
use crate::picture::MAX_FILE_BYTES;
use crate::retailer::{PageAddress, Retailer};

/// How long a page with its redirects may take, and how long a picture, unless [`Downloader::time_limit`] is set.
const TIME_LIMIT: Duration = Duration::from_secs(8);
const MAX_PAGE_BYTES: usize = 2 << 20;
const MAX_REDIRECTS: usize = 3;

/// Fetches from one retailer. Shared by all requests, so that connections are reused.
pub struct Downloader {
    client: HttpClient,
    retailer: Retailer,
    time_limit: Duration,
}

impl Downloader {
    pub fn new(retailer: Retailer, addresses: Addresses) -> Self {
        Self {
            client: HttpClient::with_addresses(false, addresses),
            retailer,
            time_limit: TIME_LIMIT,
        }
    }

    /// Sets the time limit for a page including its redirects, and separately for a picture.
    pub fn time_limit(self, time_limit: Duration) -> Self {
        Self { time_limit, ..self }
    }

    pub fn retailer(&self) -> &Retailer {
        &self.retailer
    }

    /// Fetches a product page and reads the product from it.
    ///
    /// # Errors
    /// [`ImportError`] when the page cannot be fetched within the limits, or has no name or picture.
    pub async fn fetch_product(&self, address: &PageAddress) -> Result<Product, ImportError> {
        let (url, page) = self.fetch(&address.url, "text/html", MAX_PAGE_BYTES).await?;
        read_page(&page, &url, address).ok_or(ImportError::MissingData)
    }

    /// Fetches a picture as the retailer has it. It must be passed through [`crate::encode_picture`] before it is stored.
    ///
    /// # Errors
    /// [`ImportError`] when it cannot be fetched within the limits.
    pub async fn fetch_picture(&self, url: &Url) -> Result<Bytes, ImportError> {
        let accept = "image/jpeg, image/png, image/webp";
        Ok(self.fetch(url, accept, MAX_FILE_BYTES).await?.1)
    }

    /// The body of a successful response, and the address after redirects.
    async fn fetch(
        &self,
        url: &Url,
        accept: &'static str,
        max_bytes: usize,
    ) -> Result<(Url, Bytes), ImportError> {
        let deadline = Instant::now() + self.time_limit;
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            self.retailer.check_address(&url)?;
            let remaining = deadline.saturating_duration_since(Instant::now());
            let call = Call::with_headers(Method::GET, url.as_str(), request_headers(accept), Bytes::new())
                .timeout(remaining)
                .max_response_bytes(max_bytes);
            let response = self.client.send(call).await?;
            match read_redirect(&response, &url) {
                Some(next) => url = next,
                None => return Ok((url, read_body(response)?)),
            }
        }
        Err(ImportError::TooManyRedirects)
    }
}

fn request_headers(accept: &'static str) -> HeaderMap {
    let agent = "Mozilla/5.0 (compatible; Selvedge product import)";
    HeaderMap::from_iter([
        (USER_AGENT, HeaderValue::from_static(agent)),
        (ACCEPT, HeaderValue::from_static(accept)),
        // A compressed body could grow beyond the limit while it is decompressed.
        (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
    ])
}

/// Where a redirect leads; `None` for other responses.
fn read_redirect(response: &CallResponse, url: &Url) -> Option<Url> {
    let is_redirect = matches!(response.status, 301 | 302 | 303 | 307 | 308);
    let location = response.headers.get(LOCATION).filter(|_| is_redirect)?;
    url.join(location.to_str().ok()?).ok()
}

fn read_body(response: CallResponse) -> Result<Bytes, ImportError> {
    let CallResponse {
        host,
        status,
        headers,
        ..
    } = &response;
    if *status != 200 {
        let (host, status) = (host.clone(), *status);
        return Err(ImportError::Status { host, status });
    }
    // It was compressed although the request does not accept that, so its text cannot be read.
    if headers
        .get(CONTENT_ENCODING)
        .is_some_and(|encoding| encoding != "identity")
    {
        return Err(ImportError::MissingData);
    }
    Ok(response.body)
}
