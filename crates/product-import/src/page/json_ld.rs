//! A product in JSON-LD, with the names of <https://schema.org/Product>.

use serde_json::{Map, Value};

use super::html::PageText;
use super::{Findings, currency_of, price_of, text_of};
use crate::gender::Gender;

/// Nesting below which nothing is searched.
const MAX_DEPTH: usize = 8;

pub(super) fn find_product(page: &PageText) -> Findings {
    page.json_ld
        .iter()
        .filter_map(|text| serde_json::from_str::<Value>(text.trim()).ok())
        .find_map(|value| find_node(&value, MAX_DEPTH).map(read_product))
        .unwrap_or_default()
}

/// The first node of type `Product` or `ProductGroup`, alone, in a list or in a `@graph`.
fn find_node(value: &Value, depth: usize) -> Option<&Map<String, Value>> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Array(nodes) => nodes.iter().find_map(|node| find_node(node, depth)),
        Value::Object(node) if has_type(node, &["Product", "ProductGroup"]) => Some(node),
        Value::Object(node) => ["@graph", "mainEntity"]
            .iter()
            .filter_map(|key| node.get(*key))
            .find_map(|inner| find_node(inner, depth)),
        _ => None,
    }
}

fn has_type(node: &Map<String, Value>, kinds: &[&str]) -> bool {
    let is_kind = |value: &Value| value.as_str().is_some_and(|name| kinds.contains(&name));
    match node.get("@type") {
        Some(Value::Array(names)) => names.iter().any(is_kind),
        Some(name) => is_kind(name),
        None => false,
    }
}

fn read_product(node: &Map<String, Value>) -> Findings {
    // A group of sizes and colors may have its offers and pictures in the first variant only.
    let variant = node.get("hasVariant").and_then(first).and_then(Value::as_object);
    let field = |name: &str| node.get(name).or_else(|| variant?.get(name)).and_then(first);
    let (price, currency) = field("offers").map(read_offer).unwrap_or_default();
    Findings {
        name: field("name").and_then(text_of),
        brand: field("brand").and_then(name_of),
        description: field("description").and_then(text_of),
        price,
        currency,
        picture: field("image").and_then(read_picture),
        gender: read_gender(&field),
    }
}

fn read_gender<'a>(field: &impl Fn(&str) -> Option<&'a Value>) -> Option<Gender> {
    let audience = field("audience").and_then(|audience| audience.get("suggestedGender"));
    let word = audience.or_else(|| field("gender"))?;
    Gender::parse(word.as_str()?)
}

/// The price of an `Offer` or the lowest one of an `AggregateOffer`.
fn read_offer(offer: &Value) -> (Option<f64>, Option<String>) {
    let specification = offer.get("priceSpecification").and_then(first);
    let of = |name: &str| offer.get(name).or_else(|| specification?.get(name));
    let price = of("price").or_else(|| of("lowPrice")).and_then(price_of);
    (price, of("priceCurrency").and_then(currency_of))
}

fn read_picture(value: &Value) -> Option<String> {
    match value {
        Value::Object(picture) => ["contentUrl", "url"]
            .iter()
            .find_map(|key| picture.get(*key).and_then(first).and_then(text_of)),
        _ => text_of(value),
    }
}

fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::Object(node) => node.get("name").and_then(text_of),
        _ => text_of(value),
    }
}

/// The value itself, or the first one of a list.
fn first(value: &Value) -> Option<&Value> {
    match value {
        Value::Array(values) => values.first(),
        _ => Some(value),
    }
}
