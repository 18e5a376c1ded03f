//! Uploads as `multipart/form-data`: text fields, and the first part that is a file.

use std::collections::VecDeque;
use std::sync::Arc;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::HttpRequest;
use actix_web::http::header;
use actix_web::web;
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::StorageError;

/// Text fields that are used; further ones are ignored.
const MAX_USED_FIELDS: usize = 10;
/// Text fields that are read at all; a form with more is refused.
const MAX_READ_FIELDS: usize = 100;
/// Largest text field in bytes.
const MAX_FIELD_BYTES: usize = 1024 * 1024;
/// Bytes of further file parts that are read and discarded; a form with more is refused.
const MAX_SKIPPED_BYTES: usize = 1024 * 1024;

/// The text fields of a form.
#[derive(Debug, Default, Clone)]
pub(crate) struct FormFields {
    /// `cacheControl`: a number of seconds.
    pub(crate) cache_control: Option<String>,
    /// `contentEncoding`: how the bytes of the file are encoded.
    pub(crate) content_encoding: Option<String>,
    /// `metadata` or `userMetadata`, when it is a JSON object.
    pub(crate) user_metadata: Option<Value>,
    /// `contentType`, which overrides the part's own.
    pub(crate) content_type: Option<String>,
    count: usize,
}

impl FormFields {
    /// `cacheControl` as the value of a `Cache-Control` header.
    pub(crate) fn cache_control(&self) -> String {
        match self.cache_control.as_deref() {
            None | Some("") => "no-cache".to_owned(),
            Some(age) => format!("max-age={age}"),
        }
    }

    /// Reads a field and keeps it if it is a known one.
    async fn read_field(&mut self, field: Field) -> Result<(), StorageError> {
        let name = field.name().unwrap_or_default().to_owned();
        self.count += 1;
        if self.count > MAX_READ_FIELDS {
            return Err(StorageError::BrokenForm("too many fields".to_owned()));
        }
        let text = read_text(field, &name).await?;
        if self.count > MAX_USED_FIELDS {
            return Ok(());
        }
        match name.as_str() {
            "cacheControl" => self.cache_control = Some(text),
            "contentEncoding" => self.content_encoding = Some(text),
            "contentType" if !text.is_empty() => self.content_type = Some(text),
            "metadata" | "userMetadata" => self.user_metadata = parse_json_object(text.as_bytes()),
            _ => {}
        }
        Ok(())
    }
}

/// Parses a JSON object. User metadata that is anything else is ignored.
pub(crate) fn parse_json_object(text: &[u8]) -> Option<Value> {
    serde_json::from_slice(text).ok().filter(Value::is_object)
}

/// A form that is being read part by part.
pub(crate) struct Form {
    parts: Multipart,
    fields: FormFields,
}

/// The file part, whose bytes are still to be read.
pub(crate) struct FilePart {
    /// `None` once it was read to its end.
    field: Option<Field>,
    /// Bytes that were read ahead and are not taken yet.
    ahead: VecDeque<Bytes>,
    ahead_bytes: usize,
    /// The share of the memory for forms that `ahead` takes.
    memory: Option<OwnedSemaphorePermit>,
    /// The part's own content type.
    pub(crate) content_type: Option<String>,
}

impl Form {
    /// Whether the request carries a form.
    pub(crate) fn is_form(request: &HttpRequest) -> bool {
        let declared = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        declared.is_some_and(|text| {
            text.trim_start()
                .to_ascii_lowercase()
                .starts_with("multipart/form-data")
        })
    }

    /// Reads the fields before the file.
    ///
    /// # Errors
    /// `NoContent` when there is no file part, `BrokenForm`, `UserMetadataTooLarge`, `Aborted`.
    pub(crate) async fn open(
        request: &HttpRequest,
        payload: web::Payload,
    ) -> Result<(Self, FilePart), StorageError> {
        let mut form = Self {
            parts: Multipart::new(request.headers(), payload),
            fields: FormFields::default(),
        };
        while let Some(field) = form.parts.next().await {
            let field = field.map_err(map_form_error)?;
            if is_file(&field) {
                let declared = field
                    .headers()
                    .get(header::CONTENT_TYPE)
                    .and_then(|value| value.to_str().ok());
                let content_type = declared.map(str::to_owned);
                let file = FilePart {
                    field: Some(field),
                    ahead: VecDeque::new(),
                    ahead_bytes: 0,
                    memory: None,
                    content_type,
                };
                return Ok((form, file));
            }
            form.fields.read_field(field).await?;
        }
        Err(StorageError::NoContent)
    }

    /// The fields that were read so far.
    pub(crate) fn fields(&self) -> &FormFields {
        &self.fields
    }

    /// Reads the fields behind the file, where some clients send them. The original ignores those.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) async fn read_rest(&mut self) -> Result<(), StorageError> {
        let mut skipped = 0;
        while let Some(field) = self.parts.next().await {
            let mut field = field.map_err(map_form_error)?;
            if !is_file(&field) {
                self.fields.read_field(field).await?;
                continue;
            }
            while let Some(chunk) = field.next().await {
                skipped += chunk.map_err(map_form_error)?.len();
                if skipped > MAX_SKIPPED_BYTES {
                    return Err(StorageError::EntityTooLarge);
                }
            }
        }
        Ok(())
    }
}

impl FilePart {
    /// Reads the file into memory, up to `limit` bytes and while `memory` has a permit for each of them. True when that
    /// was all of the file: then the fields behind it can be read.
    ///
    /// # Errors
    /// `Aborted` when the client disconnects inside the part.
    pub(crate) async fn read_ahead(
        &mut self,
        limit: usize,
        memory: &Arc<Semaphore>,
    ) -> Result<bool, StorageError> {
        while self.ahead_bytes <= limit {
            let Some(field) = &mut self.field else {
                return Ok(true);
            };
            match field.next().await {
                Some(chunk) => {
                    let chunk = chunk.map_err(map_form_error)?;
                    self.ahead_bytes += chunk.len();
                    let has_memory = self.take_memory(chunk.len(), memory);
                    self.ahead.push_back(chunk);
                    if !has_memory {
                        return Ok(false);
                    }
                }
                // The parser gives out the next part only after this one is dropped.
                None => self.field = None,
            }
        }
        Ok(false)
    }

    /// Takes permits for this many bytes, which are returned when the part is dropped. False when there are too few.
    fn take_memory(&mut self, bytes: usize, memory: &Arc<Semaphore>) -> bool {
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        let Ok(taken) = Arc::clone(memory).try_acquire_many_owned(permits) else {
            return false;
        };
        match &mut self.memory {
            Some(held) => held.merge(taken),
            none => *none = Some(taken),
        }
        true
    }

    /// The next bytes of the file.
    ///
    /// # Errors
    /// `Aborted` when the client went away inside the part.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, StorageError>> {
        if let Some(chunk) = self.ahead.pop_front() {
            return Some(Ok(chunk));
        }
        Some(self.field.as_mut()?.next().await?.map_err(map_form_error))
    }
}

/// Whether a part is a file and no text field: it has a file name, or is of the type of bytes. Compat: Node's `form-data` sends a Buffer
/// without a name.
fn is_file(field: &Field) -> bool {
    let has_name = field.content_disposition().is_some_and(|disposition| {
        // A part that has only the extended parameter `filename*` is a file as well.
        disposition.get_filename().is_some() || disposition.get_filename_ext().is_some()
    });
    let is_bytes = field
        .content_type()
        .is_some_and(|kind| kind.essence_str() == "application/octet-stream");
    has_name || is_bytes
}

async fn read_text(mut field: Field, name: &str) -> Result<String, StorageError> {
    let mut text = Vec::new();
    while let Some(chunk) = field.next().await {
        text.extend_from_slice(&chunk.map_err(map_form_error)?);
        if text.len() > MAX_FIELD_BYTES {
            return Err(match name {
                "metadata" | "userMetadata" => StorageError::UserMetadataTooLarge,
                _ => StorageError::BrokenForm(format!("field {name:?} is too large")),
            });
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Maps an error of the multipart parser.
fn map_form_error(error: MultipartError) -> StorageError {
    match error {
        MultipartError::Payload(_) | MultipartError::Incomplete => StorageError::Aborted,
        MultipartError::BoundaryMissing => StorageError::BrokenForm("Boundary not found".to_owned()),
        other => StorageError::BrokenForm(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::FromRequest;
    use actix_web::test::TestRequest;

    use super::*;

    /// A form with a file of this many bytes, and its file part, which can be read while the form is there.
    async fn form_of(bytes: usize) -> (Form, FilePart) {
        let body = format!(
            "--x\r\ncontent-disposition: form-data; name=\"\"; filename=\"f\"\r\n\r\n{}\r\n--x--\r\n",
            "a".repeat(bytes)
        );
        let request = TestRequest::post().insert_header(("content-type", "multipart/form-data; boundary=x"));
        let (request, mut payload) = request.set_payload(body).to_http_parts();
        let payload = web::Payload::from_request(&request, &mut payload);
        let opened = Form::open(&request, payload.await.expect("a payload")).await;
        opened.expect("a form")
    }

    async fn read_whole(mut file: FilePart) -> usize {
        let mut length = 0;
        while let Some(chunk) = file.next().await {
            length += chunk.expect("bytes").len();
        }
        length
    }

    #[actix_web::test]
    async fn store_006_a_part_of_bytes_without_a_file_name_is_the_file() {
        let body = "--x\r\ncontent-disposition: form-data; name=\"cacheControl\"\r\n\r\n60\r\n\
                    --x\r\ncontent-disposition: form-data; name=\"\"\r\ncontent-type: application/octet-stream\r\n\r\nbytes\r\n--x--\r\n";
        let request = TestRequest::post().insert_header(("content-type", "multipart/form-data; boundary=x"));
        let (request, mut payload) = request.set_payload(body).to_http_parts();
        let payload = web::Payload::from_request(&request, &mut payload);
        let (form, file) = Form::open(&request, payload.await.expect("a payload"))
            .await
            .expect("a form");

        assert_eq!(file.content_type.as_deref(), Some("application/octet-stream"));
        assert_eq!(form.fields().cache_control(), "max-age=60");
        assert_eq!(read_whole(file).await, 5);
    }

    #[actix_web::test]
    async fn store_006_files_are_held_only_while_all_forms_together_have_memory() {
        let memory = Arc::new(Semaphore::new(1000));
        let (_first_form, mut first) = form_of(900).await;
        let (_second_form, mut second) = form_of(900).await;

        assert!(first.read_ahead(10_000, &memory).await.expect("it is read"));
        assert!(!second.read_ahead(10_000, &memory).await.expect("it is read"));

        // The second file streams instead, and no byte of it is lost.
        assert_eq!(read_whole(second).await, 900);
        assert_eq!(read_whole(first).await, 900);
        assert_eq!(memory.available_permits(), 1000);
    }
}
