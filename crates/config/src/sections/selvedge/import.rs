//! `[selvedge.import]`: the function `fetch-farfetch`, which reads products from the pages of a retailer.

use std::collections::HashMap;
use std::net::SocketAddr;

use crate::reader::section::Section;

/// `[selvedge.import]`.
#[derive(Debug, Clone)]
pub struct ImportSection {
    /// Hosts of the retailer, including their subdomains. Default: none, which disables the function.
    pub hosts: Vec<String>,
    /// Addresses of certain hosts, each as `host=address:port`, in place of those that their names lead to. They may be
    /// private. Default: none.
    pub addresses: HashMap<String, SocketAddr>,
    /// The project's function that says who may import, and returns known products and brands.
    pub check: String,
    /// Bucket of the pictures. Default `images`.
    pub bucket: String,
    /// Folder of the pictures in the bucket. Default `items`.
    pub folder: String,
    /// Imports of one person within a minute. Default 10.
    pub per_minute: usize,
}

impl ImportSection {
    /// `None` without `hosts`, as the other keys are then meaningless.
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        let hosts = section.strings("hosts", &[]);
        let addresses = section.strings("addresses", &[]);
        let found = Self {
            hosts: hosts.iter().map(|host| host.to_lowercase()).collect(),
            addresses: addresses
                .iter()
                .filter_map(|entry| read_address(section, entry))
                .collect(),
            check: section.string("check", "check_product_import"),
            bucket: section.string("bucket", "images"),
            folder: section.string("folder", "items"),
            per_minute: section.integer("per_minute", 10, 1..=1000),
        };
        (!hosts.is_empty()).then_some(found)
    }
}

fn read_address(section: &Section<'_>, entry: &str) -> Option<(String, SocketAddr)> {
    let parsed = entry
        .split_once('=')
        .and_then(|(host, address)| Some((host.to_lowercase(), address.parse().ok()?)));
    if parsed.is_none() {
        section.report_error(
            "addresses",
            "each entry is host=address:port, such as shop.example=10.0.0.7:443",
        );
    }
    parsed
}
