//! A product in Open Graph's meta tags, with the names that Facebook and Pinterest have added for shops.

use serde_json::Value;

use super::html::PageText;
use super::{Findings, currency_of, price_of};
use crate::gender::Gender;

pub(super) fn find_product(page: &PageText) -> Findings {
    let text = |names: &[&str]| names.iter().find_map(|name| page.meta_content(name)).cloned();
    let value = |names: &[&str]| text(names).map(Value::String);
    Findings {
        name: text(&["og:title", "twitter:title"]),
        brand: text(&["product:brand", "og:brand"]),
        description: text(&["og:description", "description"]),
        price: value(&["product:price:amount", "og:price:amount"]).and_then(|price| price_of(&price)),
        currency: value(&["product:price:currency", "og:price:currency"])
            .and_then(|currency| currency_of(&currency)),
        picture: text(&["og:image:secure_url", "og:image", "twitter:image"]),
        gender: text(&["product:gender"]).and_then(|word| Gender::parse(&word)),
    }
}
