//! Writes a page's title, description, canonical address, preview tags (Open Graph, Twitter), preloads and data into
//! `index.html`.

use std::fmt::Write;

use regex::{NoExpand, Regex};
use selvedge_lookbook::{CARD_HEIGHT, CARD_WIDTH};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::card::CardMeta;

/// The head of a page, returned by the project's function: a JSON object whose members may be absent or null.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PageMeta {
    /// Status of the response. Default 200.
    pub(super) status: Option<u16>,
    /// Title of the HTML document.
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    /// Picture for previews: an absolute URL or a root-relative path.
    pub(super) image: Option<String>,
    /// What is drawn on the page's card, which is shown in previews in place of the picture.
    pub(super) card: Option<CardMeta>,
    /// Whether crawlers should leave the page out, and store nothing of it.
    pub(super) noindex: bool,
    /// Preferred address of the page: an absolute URL or a root-relative path.
    pub(super) canonical: Option<String>,
    /// `og:type`. Default `website`.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// Resources that the page needs first.
    pub(super) preload: Vec<Preload>,
    /// JSON for the page's scripts, such as the rows of their first queries.
    pub(super) data: Option<Box<RawValue>>,
    /// The whole response, for `/robots.txt` and `/sitemap.xml`.
    pub(super) body: Option<String>,
}

/// A resource that the browser requests before the page's scripts ask for it: attributes of `<link rel="preload">`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Preload {
    href: String,
    /// Kind of the resource. Default `image`.
    #[serde(rename = "as")]
    kind: Option<String>,
    imagesrcset: Option<String>,
    imagesizes: Option<String>,
    #[serde(rename = "type")]
    mime: Option<String>,
    media: Option<String>,
    fetchpriority: Option<String>,
    crossorigin: Option<String>,
}

/// Id of the element that holds [`PageMeta::data`].
const DATA_ELEMENT_ID: &str = "page-data";

/// `index` with the head that `meta` describes. Every value is escaped: it may come from the project's users. Without
/// `draws_cards` previews show the page's picture.
pub(super) fn write_head(index: &str, meta: &PageMeta, origin: &str, draws_cards: bool) -> String {
    let mut page = index.to_owned();
    let mut tags = String::new();
    if let Some(title) = &meta.title {
        let element = format!("<title>{}</title>", escape_html(title));
        let pattern = Regex::new(r"(?is)<title>.*?</title>").expect("a valid pattern");
        if pattern.is_match(&page) {
            // Without `NoExpand`, `$1` in a title would be replaced by a capture group.
            page = pattern.replace(&page, NoExpand(&element)).into_owned();
        } else {
            tags.push_str(&element);
        }
        add_tag(&mut tags, "property", "og:title", title);
    }
    if let Some(description) = &meta.description {
        // The description of the built page is removed: crawlers take the first one that they find.
        let pattern = Regex::new(r#"(?is)\s*<meta\s+name="description"[^>]*>"#).expect("a valid pattern");
        page = pattern.replace(&page, NoExpand("")).into_owned();
        add_tag(&mut tags, "name", "description", description);
        add_tag(&mut tags, "property", "og:description", description);
    }
    if let Some(canonical) = &meta.canonical {
        let url = absolute_url(canonical, origin);
        let _ = write!(tags, "<link rel=\"canonical\" href=\"{}\">", escape_html(&url));
        add_tag(&mut tags, "property", "og:url", &url);
    }
    add_tag(
        &mut tags,
        "property",
        "og:type",
        meta.kind.as_deref().unwrap_or("website"),
    );
    add_preview_picture(&mut tags, meta, origin, draws_cards);
    if meta.noindex {
        add_tag(&mut tags, "name", "robots", "noindex, noarchive");
    }
    add_resources(&mut tags, meta);
    match page.find("</head>") {
        Some(end) => page.insert_str(end, &tags),
        None => page.insert_str(0, &tags),
    }
    page
}

/// Adds the picture that messengers show: the page's card, or its picture.
fn add_preview_picture(tags: &mut String, meta: &PageMeta, origin: &str, draws_cards: bool) {
    let page = meta.canonical.as_deref().filter(|page| page.starts_with('/'));
    let card = meta.card.as_ref().filter(|_| draws_cards);
    let picture = match (card, page, &meta.image) {
        (Some(card), Some(page), _) => Some(absolute_url(&card.address(page), origin)),
        (_, _, Some(image)) => Some(preview_url(image, origin)),
        _ => None,
    };
    let Some(picture) = picture else {
        return add_tag(tags, "name", "twitter:card", "summary");
    };
    add_tag(tags, "property", "og:image", &picture);
    if let (Some(card), Some(_)) = (card, page) {
        add_tag(tags, "property", "og:image:type", "image/jpeg");
        add_tag(tags, "property", "og:image:width", &CARD_WIDTH.to_string());
        add_tag(tags, "property", "og:image:height", &CARD_HEIGHT.to_string());
        add_tag(tags, "property", "og:image:alt", &card.description());
    }
    add_tag(tags, "name", "twitter:card", "summary_large_image");
}

fn add_tag(tags: &mut String, key: &str, name: &str, value: &str) {
    let _ = write!(tags, "<meta {key}=\"{name}\" content=\"{}\">", escape_html(value));
}

/// Adds the preloads, and after them the data: the browser should see the former within the first packets.
fn add_resources(tags: &mut String, meta: &PageMeta) {
    for preload in &meta.preload {
        add_preload(tags, preload);
    }
    if let Some(data) = &meta.data {
        let _ = write!(
            tags,
            "<script type=\"application/json\" id=\"{DATA_ELEMENT_ID}\">{}</script>",
            escape_json(data.get())
        );
    }
}

fn add_preload(tags: &mut String, preload: &Preload) {
    let kind = preload.kind.as_deref().unwrap_or("image");
    let _ = write!(tags, "<link rel=\"preload\" as=\"{}\"", escape_html(kind));
    for (name, value) in [
        ("href", Some(&preload.href)),
        ("imagesrcset", preload.imagesrcset.as_ref()),
        ("imagesizes", preload.imagesizes.as_ref()),
        ("type", preload.mime.as_ref()),
        ("media", preload.media.as_ref()),
        ("fetchpriority", preload.fetchpriority.as_ref()),
        ("crossorigin", preload.crossorigin.as_ref()),
    ] {
        if let Some(value) = value {
            let _ = write!(tags, " {name}=\"{}\"", escape_html(value));
        }
    }
    tags.push('>');
}

/// JSON that cannot end the `<script>` element around it. These characters occur in strings only, where they may be
/// written as escapes.
fn escape_json(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

fn absolute_url(address: &str, origin: &str) -> String {
    if address.starts_with('/') {
        format!("{}{address}", origin.trim_end_matches('/'))
    } else {
        address.to_owned()
    }
}

/// The address of a preview picture. A picture of a public bucket is made as small as previews by the image renderer, whole and
/// as JPEG, because not every messenger shows WebP.
fn preview_url(image: &str, origin: &str) -> String {
    match image.strip_prefix("/storage/v1/object/public/") {
        Some(object) => absolute_url(
            &format!(
                "/storage/v1/render/image/public/{object}?width={CARD_WIDTH}&height={CARD_HEIGHT}&resize=contain&format=jpeg"
            ),
            origin,
        ),
        None => absolute_url(image, origin),
    }
}

/// Escapes text for element content and for attributes in double quotes.
fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "<html><head><title>Lookbook</title>\n<meta name=\"description\" content=\"old\" /></head><body></body></html>";

    #[test]
    fn replaces_title_and_description_and_adds_preview_tags() {
        let meta = PageMeta {
            title: Some("Camel Hour · Lookbook".into()),
            description: Some("Ecru over burgundy".into()),
            image: Some("/storage/v1/object/public/combine-images/camel-hour.webp".into()),
            canonical: Some("/look/camel-hour".into()),
            kind: Some("article".into()),
            ..PageMeta::default()
        };

        let page = write_head(INDEX, &meta, "https://lookbook.test/", true);

        assert_eq!(page.matches("<title>").count(), 1);
        assert_eq!(page.matches("name=\"description\"").count(), 1);
        for expected in [
            "<title>Camel Hour · Lookbook</title>",
            "<meta name=\"description\" content=\"Ecru over burgundy\">",
            "<link rel=\"canonical\" href=\"https://lookbook.test/look/camel-hour\">",
            "<meta property=\"og:type\" content=\"article\">",
            "content=\"https://lookbook.test/storage/v1/render/image/public/combine-images/camel-hour.webp?width=1200&amp;height=630&amp;resize=contain&amp;format=jpeg\"",
            "<meta name=\"twitter:card\" content=\"summary_large_image\">",
        ] {
            assert!(page.contains(expected), "{expected} is missing in {page}");
        }
    }

    #[test]
    fn a_card_takes_the_place_of_the_picture_where_cards_are_drawn() {
        let meta: PageMeta = serde_json::from_str(
            r#"{"canonical": "/look/a&b", "image": "/storage/v1/object/public/a/b.webp", "noindex": true,
                "card": {"heading": "Camel \"Hour\"", "line": "by Mira", "wordmark": "Lookbook", "pictures": []}}"#,
        )
        .unwrap();

        let page = write_head(INDEX, &meta, "https://lookbook.test", true);

        for expected in [
            "<meta property=\"og:image\" content=\"https://lookbook.test/assets/cards/",
            ".jpg?page=%2Flook%2Fa%26b\">",
            "<meta property=\"og:image:width\" content=\"1200\">",
            "<meta property=\"og:image:alt\" content=\"Camel &quot;Hour&quot;, by Mira\">",
            "<meta name=\"robots\" content=\"noindex, noarchive\">",
        ] {
            assert!(page.contains(expected), "{expected} is missing in {page}");
        }
        let without = write_head(INDEX, &meta, "https://lookbook.test", false);
        assert!(
            without.contains("/render/image/public/a/b.webp?width=1200&amp;height=630"),
            "{without}"
        );
        assert!(!without.contains("/assets/cards/"), "{without}");
    }

    #[test]
    fn writes_preloads_and_data_that_cannot_leave_their_elements() {
        let meta: PageMeta = serde_json::from_str(
            r#"{
                "preload": [{"href": "/a.webp", "imagesrcset": "/a?width=240 240w", "imagesizes": "46vw\" onload=\"x"}],
                "data": {"price": 540.00, "name": "</script><script>alert(1)</script>&<!--"}
            }"#,
        )
        .unwrap();

        let page = write_head(INDEX, &meta, "https://lookbook.test", true);

        assert!(
            page.contains(
                "<link rel=\"preload\" as=\"image\" href=\"/a.webp\" imagesrcset=\"/a?width=240 240w\" \
                 imagesizes=\"46vw&quot; onload=&quot;x\">"
            ),
            "{page}"
        );
        let (_, rest) = page
            .split_once("<script type=\"application/json\" id=\"page-data\">")
            .expect("a data element");
        let (json, _) = rest.split_once("</script>").expect("its end");
        assert!(!json.contains(['<', '>', '&']), "{json}");
        let data: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(data["name"], "</script><script>alert(1)</script>&<!--");
        assert_eq!(page.matches("<script").count(), 1, "{page}");
    }

    #[test]
    fn escapes_markup_and_dollar_signs_of_users() {
        let meta = PageMeta {
            title: Some("$1 </title><script>alert(1)</script>".into()),
            description: Some("\"><script>".into()),
            ..PageMeta::default()
        };

        let page = write_head(INDEX, &meta, "https://lookbook.test", true);

        assert!(!page.contains("<script>"), "{page}");
        assert!(page.contains("<title>$1 &lt;/title&gt;"), "{page}");
    }
}
