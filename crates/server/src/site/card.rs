//! The cards of shared links, at `/assets/cards/<version>.jpg?page=<path>`.
//!
//! What is on the card of a page is said by the project's function for page heads, as every visitor may see it. The version
//! follows from that, so a card never changes under its address. Cards are drawn when somebody asks for one, one at a time,
//! and the latest are kept in memory.

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{self, Bytes};
use moka::sync::Cache;
use percent_encoding::percent_decode_str;
use selvedge_lookbook::{CardTexts, card_picture_size, draw_card};
use selvedge_storage::{ServiceObjects, StorageError};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

/// Changes with the layout of cards, so that browsers and messengers ask for the new ones.
const LAYOUT: &str = "1";
const FOLDER: &str = "assets/cards/";
/// Cards that are drawn at a time. Each takes some 10 MB and a tenth of a second of a core, and strangers choose which ones.
const DRAWN_AT_A_TIME: usize = 1;
/// How long a request waits for its turn to have a card drawn; after that it gets 503.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Bytes of the cards that are kept: some hundred.
const MAX_KEPT_BYTES: u64 = 16 * 1024 * 1024;
const KEPT_FOR: Duration = Duration::from_secs(24 * 3600);
/// Most pictures on a card.
const MAX_PICTURES: usize = 4;

/// What is on the card of a page, as the project's function returns it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct CardMeta {
    heading: Option<String>,
    line: Option<String>,
    wordmark: Option<String>,
    /// Root-relative addresses of files in public buckets.
    pictures: Vec<Option<String>>,
}

impl CardMeta {
    /// The root-relative address of the card of this page.
    pub(super) fn address(&self, page: &str) -> String {
        let page: String = url::form_urlencoded::byte_serialize(page.as_bytes()).collect();
        format!("/{FOLDER}{}.jpg?page={page}", self.version())
    }

    /// The card in words.
    pub(super) fn description(&self) -> String {
        let parts = [self.heading.as_deref(), self.line.as_deref()];
        let parts: Vec<&str> = parts
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect();
        parts.join(", ")
    }

    /// A name for exactly these texts and pictures.
    fn version(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(LAYOUT);
        let texts = [&self.heading, &self.line, &self.wordmark];
        for part in texts.into_iter().chain(self.pictures.iter().take(MAX_PICTURES)) {
            // The length keeps two parts apart from one that consists of both.
            let part = part.as_deref().unwrap_or_default();
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hex::encode(&hash.finalize()[..12])
    }

    fn texts(&self) -> CardTexts {
        let text = |part: &Option<String>| part.clone().unwrap_or_default();
        CardTexts {
            heading: text(&self.heading),
            line: text(&self.line),
            wordmark: text(&self.wordmark),
        }
    }
}

/// Draws cards and keeps the latest.
pub(super) struct Cards {
    kept: Cache<String, Bytes>,
    slots: Arc<Semaphore>,
}

/// A request for a card.
pub(super) struct CardRequest {
    version: String,
    pub(super) page: String,
}

#[derive(Deserialize)]
struct CardQuery {
    page: String,
}

impl CardRequest {
    /// Reads the path without its leading slash, and the query; `None` where they are not those of a card.
    pub(super) fn parse(path: &str, query: &str) -> Option<Self> {
        let version = path.strip_prefix(FOLDER)?.strip_suffix(".jpg")?;
        let page = web::Query::<CardQuery>::from_query(query).ok()?.into_inner().page;
        page.starts_with('/').then(|| Self {
            version: version.to_owned(),
            page,
        })
    }
}

impl Cards {
    pub(super) fn new() -> Self {
        Self {
            kept: Cache::builder()
                .max_capacity(MAX_KEPT_BYTES)
                .weigher(|_: &String, card: &Bytes| u32::try_from(card.len()).unwrap_or(u32::MAX))
                .time_to_idle(KEPT_FOR)
                .build(),
            slots: Arc::new(Semaphore::new(DRAWN_AT_A_TIME)),
        }
    }

    /// The response with the card of a page. A link with an older version gets the present card, for a short time.
    pub(super) async fn respond(
        &self,
        asked: &CardRequest,
        card: &CardMeta,
        objects: &ServiceObjects,
    ) -> HttpResponse {
        let version = card.version();
        let Some(bytes) = self.get(&version, card, objects).await else {
            return HttpResponse::ServiceUnavailable()
                .insert_header((header::CACHE_CONTROL, "no-store"))
                .insert_header((header::RETRY_AFTER, "10"))
                .finish();
        };
        let cache_control = match asked.version == version {
            true => "public, max-age=31536000, immutable",
            false => "public, max-age=60",
        };
        HttpResponse::Ok()
            .content_type("image/jpeg")
            .insert_header((header::CACHE_CONTROL, cache_control))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .body(bytes)
    }

    async fn get(&self, version: &str, card: &CardMeta, objects: &ServiceObjects) -> Option<Bytes> {
        if let Some(bytes) = self.kept.get(version) {
            return Some(bytes);
        }
        let slot = tokio::time::timeout(MAX_WAIT, self.slots.clone().acquire_owned()).await;
        let slot = slot.ok()?.expect("the semaphore is never closed");
        // Another request for it may have been first.
        if let Some(bytes) = self.kept.get(version) {
            return Some(bytes);
        }
        let pictures = match read_pictures(card, objects).await {
            Ok(pictures) => pictures,
            Err(error) => {
                tracing::warn!(%error, "the pictures of a card cannot be read");
                return None;
            }
        };
        let texts = card.texts();
        let drawing = web::block(move || {
            // Held until the card is drawn, also when the client is gone by then.
            let _slot = slot;
            draw_card(&texts, &pictures)
        });
        match drawing.await {
            Ok(Ok(bytes)) => {
                let bytes = Bytes::from(bytes);
                self.kept.insert(version.to_owned(), bytes.clone());
                Some(bytes)
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "a card cannot be drawn");
                None
            }
            Err(error) => {
                tracing::error!(%error, "a card cannot be drawn");
                None
            }
        }
    }
}

/// The pictures of a card, in the size of their places. Those that are missing or no pictures are left out.
async fn read_pictures(card: &CardMeta, objects: &ServiceObjects) -> Result<Vec<Vec<u8>>, StorageError> {
    let files = card.pictures.iter().flatten().take(MAX_PICTURES);
    let files: Vec<(String, String)> = files.filter_map(|address| public_file(address)).collect();
    let size = card_picture_size(files.len());
    let mut pictures = Vec::new();
    for (bucket, name) in &files {
        match objects.render_public(bucket, name, size).await {
            Ok(picture) => pictures.push(picture),
            Err(
                StorageError::NoSuchKey
                | StorageError::NoSuchBucket
                | StorageError::BlobMissing
                | StorageError::Unrenderable(_),
            ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(pictures)
}

/// Bucket and name of the file at the address of a public file of this server.
fn public_file(address: &str) -> Option<(String, String)> {
    let (bucket, name) = address
        .strip_prefix("/storage/v1/object/public/")?
        .split_once('/')?;
    let decode = |part: &str| {
        let text = percent_decode_str(part).decode_utf8();
        text.map(std::borrow::Cow::into_owned).ok()
    };
    Some((decode(bucket)?, decode(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(heading: &str, line: &str, pictures: &[&str]) -> CardMeta {
        CardMeta {
            heading: Some(heading.to_owned()),
            line: Some(line.to_owned()),
            wordmark: None,
            pictures: pictures
                .iter()
                .map(|picture| Some((*picture).to_owned()))
                .collect(),
        }
    }

    #[test]
    fn a_version_names_what_is_on_the_card() {
        let version = card("Camel Hour", "by Mira", &["/a"]).version();

        assert_eq!(version, card("Camel Hour", "by Mira", &["/a"]).version());
        for other in [
            card("Camel Hourb", "y Mira", &["/a"]),
            card("Camel Hour", "by Mira", &["/b"]),
            card("Camel Hour", "by Mira", &[]),
            card("Camel Hour", "", &["/a"]),
        ] {
            assert_ne!(version, other.version());
        }
    }

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let card = card("Camel Hour", "", &[]);
        let address = card.address("/look/a&b");
        let (path, query) = address.split_once('?').expect("a query");

        let asked = CardRequest::parse(path.trim_start_matches('/'), query).expect("a card");

        assert_eq!(
            (asked.page.as_str(), asked.version),
            ("/look/a&b", card.version())
        );
        for (path, query) in [
            ("assets/cards/a.png", "page=/"),
            ("assets/app.js", "page=/"),
            ("assets/cards/a.jpg", ""),
            ("assets/cards/a.jpg", "page=https://elsewhere.test"),
        ] {
            assert!(CardRequest::parse(path, query).is_none(), "{path}?{query}");
        }
    }

    #[test]
    fn only_files_of_this_server_are_read() {
        let file = public_file("/storage/v1/object/public/images/items/a%20coat.webp");
        assert_eq!(file, Some(("images".to_owned(), "items/a coat.webp".to_owned())));
        for elsewhere in [
            "https://cdn.test/a.png",
            "/storage/v1/object/sign/a/b",
            "/a.png",
            "",
        ] {
            assert_eq!(public_file(elsewhere), None, "{elsewhere}");
        }
    }
}
