//! The settings of the function `fetch-farfetch`.

use secrecy::SecretString;
use selvedge_product_import::{Addresses, Retailer};

/// Settings of `fetch-farfetch`: how it reaches the project, and which retailer it may call.
#[derive(Debug, Clone)]
pub struct ProductImportConfig {
    /// The API's own URL, as functions reach it.
    pub api_url: String,
    pub anon_key: SecretString,
    /// The project's function that refuses callers without permission, and returns known products and brands.
    pub check: String,
    /// Where pictures are stored: a bucket, and a folder in it.
    pub bucket: String,
    pub folder: String,
    /// Imports of one person within a minute; more are answered 429.
    pub per_minute: usize,
    pub retailer: Retailer,
    pub addresses: Addresses,
}
