//! Which addresses belong to the retailer, and which of them are pages of products.

use url::{Host, Url};

use crate::error::ImportError;
use crate::gender::Gender;

/// A retailer whose pages may be read.
#[derive(Debug, Clone)]
pub struct Retailer {
    /// Names of its hosts in lower case; their subdomains belong to it, too.
    pub hosts: Vec<String>,
    /// Whether pages and pictures are fetched by https only. False in tests that serve pages without a certificate.
    pub requires_https: bool,
}

/// The address of a product page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageAddress {
    /// Without query and fragment, so that the same product has one address.
    pub url: Url,
    pub product_id: u64,
    /// From a path such as `/shopping/women/…`.
    pub gender: Option<Gender>,
}

impl Retailer {
    /// Whether this address may be fetched: the scheme and its default port, a host of the list, no login.
    pub(crate) fn check_address(&self, url: &Url) -> Result<(), ImportError> {
        let refused = || ImportError::ForbiddenHost(url.host_str().unwrap_or("another scheme").to_owned());
        let scheme_fits = url.scheme() == "https" || (url.scheme() == "http" && !self.requires_https);
        // `Url::port` is `None` for the default port of the scheme.
        let is_plain = url.port().is_none() && url.username().is_empty() && url.password().is_none();
        let Some(Host::Domain(name)) = url.host() else {
            return Err(refused());
        };
        if scheme_fits && is_plain && self.owns_host(name) {
            Ok(())
        } else {
            Err(refused())
        }
    }

    fn owns_host(&self, name: &str) -> bool {
        self.hosts.iter().any(|host| {
            name.strip_suffix(host.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    }

    /// Reads the address of a product page, as it was typed: its path ends in `-item-<number>.aspx`.
    ///
    /// # Errors
    /// [`ImportError::NotAProduct`] for any other address.
    pub fn parse_address(&self, text: &str) -> Result<PageAddress, ImportError> {
        let mut url = Url::parse(text.trim()).map_err(|_| ImportError::NotAProduct)?;
        self.check_address(&url).map_err(|_| ImportError::NotAProduct)?;
        url.set_query(None);
        url.set_fragment(None);
        let product_id = parse_product_id(url.path()).ok_or(ImportError::NotAProduct)?;
        let gender = url.path().split('/').find_map(Gender::parse);
        Ok(PageAddress {
            url,
            product_id,
            gender,
        })
    }
}

/// The number in `…-item-<number>.aspx`, with at most 15 digits, so that JavaScript holds it exactly.
fn parse_product_id(path: &str) -> Option<u64> {
    let (_, number) = path.strip_suffix(".aspx")?.rsplit_once("item-")?;
    let is_number =
        !number.is_empty() && number.len() <= 15 && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|id| is_number && *id > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retailer() -> Retailer {
        Retailer {
            hosts: vec!["farfetch.com".to_owned()],
            requires_https: true,
        }
    }

    #[test]
    fn addresses_of_product_pages_are_recognised() {
        let text =
            " https://www.farfetch.com/uk/shopping/women/khaite-coat-item-12345678.aspx?storeid=1#size ";
        let address = retailer().parse_address(text).expect("a product");

        assert_eq!(
            address.url.as_str(),
            "https://www.farfetch.com/uk/shopping/women/khaite-coat-item-12345678.aspx"
        );
        assert_eq!(address.product_id, 12_345_678);
        assert_eq!(address.gender, Some(Gender::Women));
        let without_gender = retailer()
            .parse_address("https://farfetch.com/item-7.aspx")
            .expect("a product");
        assert_eq!((without_gender.product_id, without_gender.gender), (7, None));
    }

    #[test]
    fn other_addresses_are_refused() {
        for text in [
            "",
            "coat",
            "http://www.farfetch.com/shopping/a-item-1.aspx",
            "https://www.farfetch.com:8443/shopping/a-item-1.aspx",
            "https://user:secret@www.farfetch.com/shopping/a-item-1.aspx",
            "https://notfarfetch.com/shopping/a-item-1.aspx",
            "https://www.farfetch.com.example/shopping/a-item-1.aspx",
            "https://127.0.0.1/shopping/a-item-1.aspx",
            "https://www.farfetch.com/shopping/women/items.aspx",
            "https://www.farfetch.com/shopping/a-item-0.aspx",
            "https://www.farfetch.com/shopping/a-item-1x.aspx",
            "https://www.farfetch.com/shopping/a-item-1234567890123456.aspx",
            "file:///etc/passwd",
            "javascript:alert(1)",
        ] {
            let refused = matches!(retailer().parse_address(text), Err(ImportError::NotAProduct));
            assert!(refused, "{text}");
        }
    }
}
