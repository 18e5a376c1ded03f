//! Reads a product from the page of a retailer: its name, brand, price, picture, number and gender.
//!
//! In: the address of a product page, typed by an administrator, and the list of hosts that may be called. Out: a
//! [`Product`], and its picture as a JPEG that this crate has encoded itself. Pages come from servers that nobody here
//! controls, so everything about them is bounded: hosts, addresses, redirects, time, bytes and pixels. The crate stores
//! nothing and does not know who asks; the functions service does both.

mod download;
mod error;
mod gender;
mod page;
mod picture;
mod retailer;

pub use download::Downloader;
pub use error::ImportError;
pub use gender::Gender;
pub use page::Product;
pub use picture::encode_picture;
pub use retailer::{PageAddress, Retailer};
pub use selvedge_http_client::{Addresses, Resolution, ResolveName};
