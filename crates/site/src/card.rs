//! The cards of shared links, at `/assets/cards/<version>.jpg?page=<path>`.
//!
//! What is on the card of a page is said by the project's function for page heads, as every visitor may see it. The version
//! follows from that, so a card never changes under its address. Cards are drawn when somebody asks for one, one at a time,
//! and the latest are kept in memory; one that lacks a picture, which may be there again a moment later, is not.

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{self, Bytes};
use moka::sync::Cache;
use percent_encoding::percent_decode_str;
use selvedge_limits::{ClientId, Turns};
use selvedge_lookbook::{CardTexts, can_write, card_picture_size, draw_card};
use selvedge_storage::{ServiceObjects, StorageError};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

/// Changes with the layout of cards, so that browsers and messengers ask for the new ones.
const LAYOUT: &str = "1";
const FOLDER: &str = "assets/cards/";
/// Cards that are drawn at a time. Each takes some 10 MB and a tenth of a second of a core, and strangers choose which ones.
const DRAWN_AT_A_TIME: usize = 1;
/// Cards of one client that wait to be drawn, so that one that asks for many does not keep the others waiting.
const OF_A_CLIENT: usize = 1;
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

    /// Whether the name can be written. For one with letters that the fonts lack, previews show the page's picture.
    pub(super) fn is_writable(&self) -> bool {
        self.heading.as_deref().is_none_or(can_write)
    }

    fn texts(&self) -> CardTexts {
        let text = |part: &Option<String>| part.clone().unwrap_or_default();
        CardTexts {
            heading: text(&self.heading),
            line: Some(text(&self.line))
                .filter(|line| can_write(line))
                .unwrap_or_default(),
            wordmark: text(&self.wordmark),
        }
    }

    /// Bucket and name of each picture.
    fn files(&self) -> Vec<(String, String)> {
        let addresses = self.pictures.iter().flatten().take(MAX_PICTURES);
        addresses.filter_map(|address| public_file(address)).collect()
    }
}

/// Draws cards and keeps the latest.
pub(super) struct Cards {
    kept: Cache<String, Bytes>,
    slots: Arc<Semaphore>,
    turns: Turns,
}

/// A card that was drawn. One without all of its pictures is not kept, so that the next request draws it with them.
struct DrawnCard {
    bytes: Bytes,
    is_whole: bool,
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
            turns: Turns::new(OF_A_CLIENT),
        }
    }

    /// The response with the card of a page. A link with an older version gets the present card, for a short time.
    pub(super) async fn respond(
        &self,
        asked: &CardRequest,
        card: &CardMeta,
        (objects, client): (&ServiceObjects, ClientId),
    ) -> HttpResponse {
        let version = card.version();
        let Some(drawn) = self.get(&version, card, objects, client).await else {
            return HttpResponse::ServiceUnavailable()
                .insert_header((header::CACHE_CONTROL, "no-store"))
                .insert_header((header::RETRY_AFTER, "10"))
                .finish();
        };
        let cache_control = match asked.version == version && drawn.is_whole {
            true => "public, max-age=31536000, immutable",
            false => "public, max-age=60",
        };
        HttpResponse::Ok()
            .content_type("image/jpeg")
            .insert_header((header::CACHE_CONTROL, cache_control))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .body(drawn.bytes)
    }

    async fn get(
        &self,
        version: &str,
        card: &CardMeta,
        objects: &ServiceObjects,
        client: ClientId,
    ) -> Option<DrawnCard> {
        if let Some(drawn) = self.find(version) {
            return Some(drawn);
        }
        let waiting = async {
            let turn = self.turns.wait(client).await;
            let slot = self.slots.clone().acquire_owned().await;
            (turn, slot.expect("the semaphore is never closed"))
        };
        let (turn, slot) = tokio::time::timeout(MAX_WAIT, waiting).await.ok()?;
        // Another request for it may have been first.
        if let Some(drawn) = self.find(version) {
            return Some(drawn);
        }
        let (pictures, is_whole) = match read_pictures(&card.files(), objects).await {
            Ok(read) => read,
            Err(error) => {
                tracing::warn!(%error, "the pictures of a card cannot be read");
                return None;
            }
        };
        let texts = card.texts();
        let drawing = web::block(move || {
            // Held until the card is drawn, also when the client is gone by then.
            let _held = (turn, slot);
            draw_card(&texts, &pictures)
        });
        let bytes = match drawing.await {
            Ok(Ok(bytes)) => Bytes::from(bytes),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a card cannot be drawn");
                return None;
            }
            Err(error) => {
                tracing::error!(%error, "a card cannot be drawn");
                return None;
            }
        };
        if is_whole {
            self.kept.insert(version.to_owned(), bytes.clone());
        }
        Some(DrawnCard { bytes, is_whole })
    }

    fn find(&self, version: &str) -> Option<DrawnCard> {
        self.kept.get(version).map(|bytes| DrawnCard {
            bytes,
            is_whole: true,
        })
    }
}

/// The pictures of a card in the size of their places, four or one, and whether they are those that it should have.
async fn read_pictures(
    files: &[(String, String)],
    objects: &ServiceObjects,
) -> Result<(Vec<Vec<u8>>, bool), StorageError> {
    let is_of_four = files.len() == MAX_PICTURES;
    if is_of_four {
        let (pictures, is_one_missing) = read_first(files, MAX_PICTURES, objects).await?;
        if !is_one_missing {
            return Ok((pictures, true));
        }
    }
    let (pictures, is_one_missing) = read_first(files, 1, objects).await?;
    Ok((pictures, !is_of_four && !is_one_missing))
}

/// The first `count` pictures that can be shown, and whether one was left out on the way, as it is missing or no picture.
async fn read_first(
    files: &[(String, String)],
    count: usize,
    objects: &ServiceObjects,
) -> Result<(Vec<Vec<u8>>, bool), StorageError> {
    let size = card_picture_size(count);
    let mut pictures = Vec::new();
    let mut is_one_missing = false;
    for (bucket, name) in files {
        if pictures.len() == count {
            break;
        }
        match objects.render_public(bucket, name, size).await {
            Ok(picture) => pictures.push(picture),
            Err(
                StorageError::NoSuchKey
                | StorageError::NoSuchBucket
                | StorageError::BlobMissing
                | StorageError::Unrenderable(_),
            ) => is_one_missing = true,
            Err(error) => return Err(error),
        }
    }
    Ok((pictures, is_one_missing))
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
    fn a_name_without_its_letters_has_no_card_and_a_line_without_them_is_left_out() {
        assert!(card("Café 2 ☕", "by Mira", &[]).is_writable());
        assert!(!card("Camel Пальто", "by Mira", &[]).is_writable());
        let texts = card("Camel", "by 山本", &[]).texts();
        assert_eq!((texts.heading.as_str(), texts.line.as_str()), ("Camel", ""));
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
