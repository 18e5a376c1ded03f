//! Pages in the styles of shops, broken ones included.

use url::Url;

use super::*;
use crate::retailer::PageAddress;

fn address() -> PageAddress {
    PageAddress {
        url: Url::parse("https://www.farfetch.com/shopping/coat-item-42.aspx").expect("an address"),
        product_id: 42,
        gender: None,
    }
}

fn read(page: &str) -> Option<Product> {
    read_page(page.as_bytes(), &address().url, &address())
}

const JSON_LD: &str = r#"<!doctype html><html><head><title>Shop</title>
<meta property="og:title" content="The page's title">
<meta property="og:image" content="https://cdn.farfetch.com/og.jpg">
<script type="application/ld+json">{"@context":"https://schema.org","@graph":[
  {"@type":"BreadcrumbList","name":"Women"},
  {"@type":["Product"],"name":"Wool &amp; cashmere coat","brand":{"@type":"Brand","name":"Khaite"},
   "description":"<p>Long.</p><p>Warm.</p>","image":["//cdn.farfetch.com/1.jpg","2.jpg"],
   "audience":{"suggestedGender":"Female"},
   "offers":[{"@type":"Offer","price":"2490.00","priceCurrency":"usd"}]}]}
</script></head>"#;

#[test]
fn json_ld_comes_before_open_graph() {
    let product = read(JSON_LD).expect("a product");

    assert_eq!(product.name, "Wool & cashmere coat");
    assert_eq!(product.brand.as_deref(), Some("Khaite"));
    assert_eq!(product.description.as_deref(), Some("Long. Warm."));
    assert_eq!(
        (product.price, product.currency.as_deref()),
        (Some(2490.0), Some("USD"))
    );
    assert_eq!(product.picture.as_str(), "https://cdn.farfetch.com/1.jpg");
    assert_eq!(product.gender, Some(Gender::Women));
    assert_eq!(product.product_id, 42);
}

#[test]
fn open_graph_serves_pages_without_json_ld() {
    let product = read(
        r#"<META NAME='og:title' content='Silk shirt &ndash; white'><meta property=og:image content=/pictures/shirt.jpg>
        <meta property="product:brand" content="Toteme"><meta property="product:price:amount" content="1.290,50">
        <meta property="product:price:currency" content="EUR"><script type="application/ld+json">{"broken": </script>"#,
    )
    .expect("a product");

    assert_eq!(product.name, "Silk shirt – white");
    assert_eq!(
        (product.price, product.currency.as_deref()),
        (Some(1290.5), Some("EUR"))
    );
    assert_eq!(
        product.picture.as_str(),
        "https://www.farfetch.com/pictures/shirt.jpg"
    );
}

#[test]
fn the_data_of_the_pages_own_script_serves_pages_without_both() {
    let state = r#"{"productViewModel":{"details":{"shortDescription":"Leather boots","genderName":"Men"},
        "designerDetails":{"id":1,"name":"Lemaire"},"images":{"main":[{"zoom":"https://cdn.farfetch.com/boots.jpg"}]},
        "priceInfo":{"default":{"finalPrice":815,"currencyCode":"USD"}}}}"#;
    let assigned = format!("<script>if (a == 1) {{}} window['__initialState'] = {state};</script>");
    let next = format!("<script id=__NEXT_DATA__ type=application/json>{state}</script>");
    let quoted = format!(
        "<script>window.__HYDRATION_STATE__={};</script>",
        serde_json::to_string(state).expect("a text")
    );
    for page in [assigned, next, quoted] {
        let product = read(&page).expect("a product");
        assert_eq!(product.name, "Leather boots");
        assert_eq!(product.brand.as_deref(), Some("Lemaire"));
        assert_eq!(
            (product.price, product.currency.as_deref()),
            (Some(815.0), Some("USD"))
        );
        assert_eq!(product.picture.as_str(), "https://cdn.farfetch.com/boots.jpg");
        assert_eq!(product.gender, Some(Gender::Men));
    }
}

#[test]
fn pages_without_a_name_or_picture_are_no_products() {
    let deep = format!("<script>x = {}1{}</script>", "[".repeat(5000), "]".repeat(5000));
    let many = "<script>a=".repeat(50_000);
    for page in [
        "",
        "<html><body>Access denied",
        r#"<meta property="og:title" content="Coat">"#,
        r#"<meta property="og:image" content="/a.jpg">"#,
        r#"<script type="application/ld+json">{"@type":"Product","name":"<b></b>","image":"/a.jpg"}</script>"#,
        "<script type='application/ld+json'>{\"@type\":\"Product\",\"name\":\"Coat",
        "\u{0}<<<>>><!--<script>--!><meta property=",
        &deep,
        &many,
    ] {
        assert_eq!(read(page), None, "{}", &page[..page.len().min(60)]);
    }
}

#[test]
fn texts_of_a_page_are_plain_and_cut_to_length() {
    let page = format!(
        r#"<meta property="og:title" content="{}&lt;script&gt;alert(1)&lt;/script&gt;"><meta property="og:image" content="/a.jpg">"#,
        "Coat\u{7}  ".repeat(100)
    );
    let product = read(&page).expect("a product");

    assert_eq!(product.name.chars().count(), 200);
    assert!(product.name.starts_with("Coat Coat"));
}

#[test]
fn prices_are_read_with_either_decimal_sign() {
    for (text, price) in [
        ("540", 540.0),
        ("$1,540.00", 1540.0),
        ("1.540,5 €", 1540.5),
        ("1,540", 1540.0),
        ("12 345 678.90", 12_345_678.9),
    ] {
        assert_eq!(price_of(&text.into()), Some(price), "{text}");
    }
    for text in ["", "free", "1e999999999999", "-"] {
        assert!(price_of(&text.into()).is_none_or(f64::is_finite), "{text}");
    }
    assert_eq!(price_of(&serde_json::json!(-3)), None);
}
