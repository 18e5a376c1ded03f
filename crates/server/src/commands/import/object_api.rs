//! Downloads objects by the source's storage API.

use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use hyper::header::{ACCEPT_ENCODING, HeaderName};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::ExposeSecret;
use selvedge_http_client::{Call, HttpClient, StreamedResponse};
use selvedge_storage::{Backend, BackendError};

use super::object::{SourceObject, parse_md5};
use super::settings::ApiSettings;

/// How often the download of an object is tried; the pause doubles after each attempt.
const ATTEMPTS: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// How long a download may make no progress.
const TIMEOUT: Duration = Duration::from_secs(60);

const API_KEY: HeaderName = HeaderName::from_static("apikey");

/// Characters that are not percent-encoded in a segment of a path: the unreserved ones of RFC 3986.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Outcome of copying an object's bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Download {
    Copied,
    AlreadyThere,
    /// The source has a row for the object, but no bytes.
    Lost,
}

/// Why an HTTP request failed.
enum Failure {
    /// A later attempt may succeed.
    Temporary(anyhow::Error),
    /// Every further attempt would fail, too.
    Permanent(anyhow::Error),
}

/// The Storage API of the source.
pub(super) struct ObjectApi<'a> {
    http: HttpClient,
    settings: &'a ApiSettings,
}

impl<'a> ObjectApi<'a> {
    /// Creates a client of the source's storage service.
    pub(super) fn new(settings: &'a ApiSettings) -> Self {
        // Private addresses are allowed, because the operator has typed the address.
        let http = HttpClient::new(true);
        Self { http, settings }
    }

    /// Checks address and key by listing the buckets.
    ///
    /// # Errors
    /// When the API does not answer 200.
    pub(super) async fn check(&self) -> Result<()> {
        let response = self.http.send(self.call("bucket")).await?;
        match response.status {
            200 => Ok(()),
            status => bail!(
                "the source's API answers {status} to its key: it has to be the service role key of {}",
                self.settings.url
            ),
        }
    }

    fn call(&self, path: &str) -> Call {
        let key = self.settings.key.expose_secret();
        // A legacy key is a JWT and must be the bearer token, an `sb_secret_…` key is accepted as `apikey` only.
        Call::get(format!("{}/storage/v1/{path}", self.settings.url))
            .header(API_KEY, key)
            .header(ACCEPT_ENCODING, "identity")
            .bearer(key)
            .timeout(TIMEOUT)
    }

    /// Copies an object's bytes into the store, unless the store has them already.
    ///
    /// # Errors
    /// When all attempts fail.
    pub(super) async fn copy_bytes(&self, object: &SourceObject, store: &dyn Backend) -> Result<Download> {
        match store.stat(object.version).await {
            Ok(stat) if object.size.is_none_or(|size| size == stat.size_bytes) => {
                return Ok(Download::AlreadyThere);
            }
            Ok(_) | Err(BackendError::Missing) => {}
            Err(error) => return Err(error.into()),
        }
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            match self.download(object, store).await {
                Ok(download) => return Ok(download),
                Err(Failure::Temporary(error)) if attempt < ATTEMPTS => {
                    tracing::debug!(%error, object = object.path(), attempt, "a download failed");
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                Err(Failure::Temporary(error) | Failure::Permanent(error)) => {
                    return Err(error).with_context(|| format!("{} cannot be copied", object.path()));
                }
            }
        }
        unreachable!("the last attempt returns")
    }

    async fn download(&self, object: &SourceObject, store: &dyn Backend) -> Result<Download, Failure> {
        let segments: Vec<String> = std::iter::once(object.bucket.as_str())
            .chain(object.name.split('/'))
            .map(|segment| utf8_percent_encode(segment, SEGMENT).to_string())
            .collect();
        let call = self.call(&format!("object/authenticated/{}", segments.join("/")));
        let response = self.http.open(call).await.map_err(temporary)?;
        match response.status {
            200 => self.store_body(response, object, store).await,
            404 => Ok(Download::Lost),
            // Compat: Supabase's storage service responds 400 with `"statusCode":"404"` for a missing object.
            400 => match read_text(response).await?.contains("404") {
                true => Ok(Download::Lost),
                false => Err(Failure::Permanent(anyhow!("the source's API answers 400"))),
            },
            status @ (401 | 403) => Err(Failure::Permanent(anyhow!(
                "the source's API answers {status}: is the key that of the service role?"
            ))),
            status => Err(Failure::Temporary(anyhow!("the source's API answers {status}"))),
        }
    }

    /// Writes the bytes to the store, where they become visible when they are complete, and compares size and MD5 with the row.
    async fn store_body(
        &self,
        mut response: StreamedResponse,
        object: &SourceObject,
        store: &dyn Backend,
    ) -> Result<Download, Failure> {
        let mut writer = store.create(object.version).await.map_err(permanent)?;
        while let Some(chunk) = response.next_chunk().await.map_err(temporary)? {
            writer.write(chunk).await.map_err(permanent)?;
        }
        let info = writer.finish().await.map_err(permanent)?;
        // Objects that were uploaded in parts have no MD5, so only their size is compared.
        let has_size = object.size.is_none_or(|size| size == info.size_bytes);
        let has_md5 = match (&object.md5, parse_md5(&info.etag)) {
            (Some(expected), Some(found)) => *expected == found,
            _ => true,
        };
        if has_size && has_md5 {
            return Ok(Download::Copied);
        }
        store.remove(object.version).await.map_err(permanent)?;
        Err(Failure::Temporary(anyhow!(
            "{} bytes arrived, which are not those that the source's row describes",
            info.size_bytes
        )))
    }
}

async fn read_text(mut response: StreamedResponse) -> Result<String, Failure> {
    let mut text = Vec::new();
    while let Some(chunk) = response.next_chunk().await.map_err(temporary)? {
        text.extend_from_slice(&chunk);
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn temporary(error: impl Into<anyhow::Error>) -> Failure {
    Failure::Temporary(error.into())
}

fn permanent(error: impl Into<anyhow::Error>) -> Failure {
    Failure::Permanent(error.into())
}
