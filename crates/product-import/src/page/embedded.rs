//! A product in the data that a page's own script starts with, such as `window.__NEXT_DATA__ = {…}`. Its shape changes with
//! every redesign of a shop, so it is searched by the names of fields and read last.

use serde_json::{Deserializer, Map, Value};

use super::html::PageText;
use super::{Findings, currency_of, price_of, text_of};
use crate::gender::Gender;

/// Nesting below which nothing is searched; pages of shops have about ten levels.
const MAX_DEPTH: usize = 32;
const NAMES: &[&str] = &["productName", "shortDescription", "name", "title"];
const BRANDS: &[&str] = &[
    "brandName",
    "designerName",
    "brand",
    "designer",
    "designerDetails",
];
const PRICES: &[&str] = &[
    "finalPrice",
    "salePrice",
    "currentPrice",
    "price",
    "priceInfo",
    "amount",
    "value",
    "default",
];
const CURRENCIES: &[&str] = &["currencyCode", "currency", "priceInfo", "price", "default"];
const PICTURES: &[&str] = &[
    "zoom", "large", "imageUrl", "image", "images", "main", "media", "600", "1000", "url", "src",
];
const GENDERS: &[&str] = &["genderName", "gender", "department", "details"];

pub(super) fn find_product(page: &PageText) -> Findings {
    page.scripts
        .iter()
        .flat_map(|script| read_values(script))
        .find_map(|value| find_node(&value, MAX_DEPTH).map(read_product))
        .unwrap_or_default()
}

/// JSON of a script: the whole script, or what is assigned to a variable. Text in quotes that holds JSON is read, too.
fn read_values(script: &str) -> Vec<Value> {
    let starts = script.match_indices('=').map(|(at, _)| at + 1);
    std::iter::once(0)
        .chain(starts)
        .filter_map(|at| {
            let rest = script[at..].trim_start();
            // Most `=` of a script are code; only a brace or quote can begin data.
            let begins_data = rest.starts_with(['{', '[', '"']);
            begins_data.then(|| read_first_value(rest)).flatten()
        })
        .collect()
}

fn read_first_value(text: &str) -> Option<Value> {
    let value = Deserializer::from_str(text).into_iter().next()?.ok()?;
    match value {
        Value::String(inner) => serde_json::from_str(&inner).ok(),
        Value::Object(_) | Value::Array(_) => Some(value),
        _ => None,
    }
}

/// The first object that looks like a product: it has a name, and a price and a picture are found in it.
fn find_node(value: &Value, depth: usize) -> Option<&Map<String, Value>> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Array(values) => values.iter().find_map(|value| find_node(value, depth)),
        Value::Object(node) if looks_like_product(node) => Some(node),
        Value::Object(node) => node.values().find_map(|value| find_node(value, depth)),
        _ => None,
    }
}

fn looks_like_product(node: &Map<String, Value>) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| node.contains_key(*name));
    has(&["images", "image", "imageUrl", "media"])
        && has(&["price", "priceInfo", "finalPrice"])
        && find_name(node).is_some()
}

fn read_product(node: &Map<String, Value>) -> Findings {
    Findings {
        name: find_name(node),
        brand: find_below(node, BRANDS, 3, &name_of),
        description: find_below(node, &["description"], 3, &text_of),
        price: find_below(node, PRICES, 4, &price_of),
        currency: find_below(node, CURRENCIES, 4, &currency_of),
        picture: find_below(node, PICTURES, 6, &address_of),
        gender: find_below(node, GENDERS, 3, &|value| Gender::parse(value.as_str()?)),
    }
}

/// A name beside the other fields, or one level below, as in `details.shortDescription`.
fn find_name(node: &Map<String, Value>) -> Option<String> {
    let of = |node: &Map<String, Value>| NAMES.iter().find_map(|name| text_of(node.get(*name)?));
    let details = || {
        node.get("details")
            .or_else(|| node.get("product"))
            .and_then(Value::as_object)
    };
    of(node).or_else(|| of(details()?))
}

/// The first value that `read` accepts at one of the names, which are tried in their order, or below it by the same names.
fn find_below<T>(
    node: &Map<String, Value>,
    names: &[&str],
    depth: usize,
    read: &impl Fn(&Value) -> Option<T>,
) -> Option<T> {
    let depth = depth.checked_sub(1)?;
    names.iter().find_map(|name| {
        let value = node.get(*name)?;
        let value = value.as_array().map_or(Some(value), |values| values.first())?;
        read(value).or_else(|| find_below(value.as_object()?, names, depth, read))
    })
}

fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::Object(node) => node.get("name").and_then(text_of),
        _ => text_of(value),
    }
}

fn address_of(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    (text.starts_with("http") || text.starts_with('/')).then(|| text.to_owned())
}
