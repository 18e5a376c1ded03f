//! Downloads objects by the source's storage API.

use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use hyper::header::{ACCEPT_ENCODING, HeaderName};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::ExposeSecret;
use selvedge_http_client::{Call, HttpClient, StreamedResponse};
use selvedge_storage::{Backend, BackendError};

use super::object::{SourceObject, parse_md5};
use crate::settings::ApiSettings;

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
pub(crate) enum Download {
    Copied,
    AlreadyThere,
    /// The source has a row for the object, but no bytes.
    Lost,
    /// It could not be copied, for this reason.
    Failed(String),
}

/// Why an HTTP request failed.
enum Failure {
    /// A later attempt may succeed.
    Temporary(anyhow::Error),
    /// Every further attempt would fail, too.
    Permanent(anyhow::Error),
    /// So would every other object.
    Fatal(anyhow::Error),
}

/// The Storage API of the source.
pub(crate) struct ObjectApi<'a> {
    http: HttpClient,
    settings: &'a ApiSettings,
}

impl<'a> ObjectApi<'a> {
    /// Creates a client of the source's storage service.
    pub(crate) fn new(settings: &'a ApiSettings) -> Self {
        // Private addresses are allowed, because the operator has typed the address.
        let http = HttpClient::new(true);
        Self { http, settings }
    }

    /// Checks address and key by listing the buckets.
    ///
    /// # Errors
    /// When the API does not answer 200.
    pub(crate) async fn check(&self) -> Result<()> {
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
    /// When no object could be copied, for example because the key is refused.
    pub(crate) async fn copy_bytes(&self, object: &SourceObject, store: &dyn Backend) -> Result<Download> {
        if let Some(reason) = object.find_fault() {
            return Ok(Download::Failed(reason.to_owned()));
        }
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
                    return Ok(Download::Failed(format!("{error:#}")));
                }
                Err(Failure::Fatal(error)) => {
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
            // Compat: Supabase's storage service responds 400 with `"statusCode":"404"` for a missing object. The same status
            // without that body is of somebody else, such as a gateway that does not know the address.
            status @ (400 | 404) => match says_not_found(&read_text(response).await?) {
                true => Ok(Download::Lost),
                false => Err(Failure::Permanent(anyhow!("the source's API answers {status}"))),
            },
            status @ (401 | 403) => Err(Failure::Fatal(anyhow!(
                "the source's API answers {status}: is the key that of the service role?"
            ))),
            // The key is for this address alone.
            status @ 300..=399 => Err(Failure::Permanent(anyhow!(
                "the source's API answers {status}, a redirection, which is not followed"
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
        let mut left = object.size.unwrap_or_default();
        while let Some(chunk) = response.next_chunk().await.map_err(temporary)? {
            // A body without an end would fill the disk.
            let Some(rest) = left.checked_sub(chunk.len() as u64) else {
                return Err(Failure::Permanent(anyhow!(
                    "the source sends more bytes than its row says"
                )));
            };
            left = rest;
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

/// Whether an error of the storage service says that the object does not exist.
fn says_not_found(body: &str) -> bool {
    let Ok(error) = serde_json::from_str::<serde_json::Value>(body) else {
        return false;
    };
    let status = error.get("statusCode");
    let is_404 = status.is_some_and(|status| status.as_str() == Some("404") || status.as_u64() == Some(404));
    let code = ["error", "code"].map(|name| error.get(name).and_then(serde_json::Value::as_str));
    is_404
        || code
            .iter()
            .flatten()
            .any(|code| matches!(*code, "not_found" | "NoSuchKey"))
}

/// Most bytes of an error's body that are read.
const MAX_ERROR: usize = 64 * 1024;

async fn read_text(mut response: StreamedResponse) -> Result<String, Failure> {
    let mut text = Vec::new();
    while let Some(chunk) = response.next_chunk().await.map_err(temporary)? {
        text.extend_from_slice(&chunk);
        if text.len() > MAX_ERROR {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn temporary(error: impl Into<anyhow::Error>) -> Failure {
    Failure::Temporary(error.into())
}

fn permanent(error: impl Into<anyhow::Error>) -> Failure {
    Failure::Permanent(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_storage_service_says_that_an_object_is_missing() {
        for body in [
            r#"{"statusCode":"404","error":"not_found","message":"Object not found"}"#,
            r#"{"statusCode":404}"#,
            r#"{"code":"NoSuchKey","message":"x"}"#,
        ] {
            assert!(says_not_found(body), "{body}");
        }
        for body in [
            "404 page not found",
            "",
            r#"{"message":"no Route matched with those values"}"#,
            r#"{"statusCode":"400","message":"the name 404 is wrong"}"#,
        ] {
            assert!(!says_not_found(body), "{body}");
        }
    }
}
