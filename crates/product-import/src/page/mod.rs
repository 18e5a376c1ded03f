//! A product from the text of its page. Three sources are read and complete each other, the most exact one first:
//! JSON-LD, Open Graph, then the data that the page's own script starts with.

mod embedded;
mod html;
mod json_ld;
mod open_graph;
#[cfg(test)]
mod tests;

use serde_json::Value;
use url::Url;

use crate::gender::Gender;
use crate::retailer::PageAddress;
use html::PageText;

/// A product as its page describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    pub name: String,
    pub brand: Option<String>,
    pub description: Option<String>,
    pub price: Option<f64>,
    /// Currency code of three letters, as in `USD`.
    pub currency: Option<String>,
    /// Where the retailer has the picture.
    pub picture: Url,
    pub product_id: u64,
    pub gender: Option<Gender>,
}

/// The product data in one source of a page; any part may be missing.
#[derive(Debug, Default, PartialEq)]
struct Findings {
    name: Option<String>,
    brand: Option<String>,
    description: Option<String>,
    price: Option<f64>,
    currency: Option<String>,
    picture: Option<String>,
    gender: Option<Gender>,
}

impl Findings {
    /// Takes from `other` what is missing here. Price and currency stay together, as they belong to one offer.
    fn complete(self, other: Self) -> Self {
        let (price, currency) = match self.price {
            Some(price) => (Some(price), self.currency),
            None => (other.price, other.currency),
        };
        Self {
            name: self.name.or(other.name),
            brand: self.brand.or(other.brand),
            description: self.description.or(other.description),
            price,
            currency,
            picture: self.picture.or(other.picture),
            gender: self.gender.or(other.gender),
        }
    }
}

/// Reads the product of a page that came from `url`; `None` when it has no name or no picture.
pub(crate) fn read_page(page: &[u8], url: &Url, address: &PageAddress) -> Option<Product> {
    let text = PageText::read(page);
    let found = json_ld::find_product(&text)
        .complete(open_graph::find_product(&text))
        .complete(embedded::find_product(&text));
    let picture = found.picture?;
    Some(Product {
        name: found.name.and_then(|name| clean_text(&name, 200))?,
        brand: found.brand.and_then(|brand| clean_text(&brand, 200)),
        description: found.description.and_then(|text| clean_text(&text, 10_000)),
        price: found.price,
        currency: found.currency,
        picture: url.join(picture.trim()).ok()?,
        product_id: address.product_id,
        gender: address.gender.or(found.gender),
    })
}

/// Without tags, control characters and repeated spaces, cut to `max_characters`; `None` when fewer than two are left.
fn clean_text(text: &str, max_characters: usize) -> Option<String> {
    let plain = html::strip_tags(text);
    let words: Vec<&str> = plain
        .split(|character: char| character.is_whitespace() || character.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let text: String = words.join(" ").chars().take(max_characters).collect();
    (text.chars().count() >= 2).then_some(text)
}

/// A text, or a number as text.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A price such as `540`, `"540.00"`, `"$1,540.00"` or `"1.540,00 €"`.
fn price_of(value: &Value) -> Option<f64> {
    let price = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => parse_price(text)?,
        _ => return None,
    };
    // The column of prices holds no larger number.
    (price.is_finite() && (0.0..100_000_000.0).contains(&price)).then_some(price)
}

fn parse_price(text: &str) -> Option<f64> {
    let digits: String = text
        .chars()
        .filter(|character| character.is_ascii_digit() || matches!(character, '.' | ','))
        .collect();
    // The last point or comma with one or two digits behind it is the decimal point; all others separate thousands.
    let decimals = digits
        .rfind(['.', ','])
        .filter(|at| (1..=2).contains(&(digits.len() - at - 1)));
    let (whole, fraction) = digits.split_at(decimals.unwrap_or(digits.len()));
    let only_digits = |part: &str| part.chars().filter(char::is_ascii_digit).collect::<String>();
    format!("{}.{}", only_digits(whole), only_digits(fraction))
        .parse()
        .ok()
}

fn currency_of(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim().to_uppercase();
    (text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())).then_some(text)
}
