//! Uploads as `multipart/form-data`: text fields, and the first part that has a file name.

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::HttpRequest;
use actix_web::http::header;
use actix_web::web;
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::Value;

use crate::error::StorageError;

/// Text fields that count; more are skipped.
const MOST_FIELDS: usize = 10;
/// Fields that are read at all before we hang up.
const FIELDS_READ: usize = 100;
/// Largest text field in bytes.
const FIELD_MAX_BYTES: usize = 1024 * 1024;
/// Bytes of further file parts that are read and thrown away before we hang up.
const EXTRA_MAX_BYTES: usize = 1024 * 1024;

/// What the text fields say.
#[derive(Debug, Default, Clone)]
pub(crate) struct FormFields {
    /// `cacheControl`, not yet as a header.
    pub(crate) cache_control: Option<String>,
    /// `metadata` or `userMetadata`, when it is a JSON object.
    pub(crate) user_metadata: Option<Value>,
    /// `contentType`, which overrides the part's own.
    pub(crate) content_type: Option<String>,
    count: usize,
}

impl FormFields {
    /// The stored cache-control.
    pub(crate) fn cache_control(&self) -> String {
        match self.cache_control.as_deref() {
            None | Some("") => "no-cache".to_owned(),
            Some(age) => format!("max-age={age}"),
        }
    }

    async fn take(&mut self, field: Field) -> Result<(), StorageError> {
        let name = field.name().unwrap_or_default().to_owned();
        self.count += 1;
        if self.count > FIELDS_READ {
            return Err(StorageError::BrokenForm("too many fields".to_owned()));
        }
        let text = read_text(field, &name).await?;
        if self.count > MOST_FIELDS {
            return Ok(());
        }
        match name.as_str() {
            "cacheControl" => self.cache_control = Some(text),
            "contentType" if !text.is_empty() => self.content_type = Some(text),
            "metadata" | "userMetadata" => self.user_metadata = json_object(text.as_bytes()),
            _ => {}
        }
        Ok(())
    }
}

/// User metadata is a JSON object or nothing.
pub(crate) fn json_object(text: &[u8]) -> Option<Value> {
    serde_json::from_slice(text).ok().filter(Value::is_object)
}

/// A form that is being read.
pub(crate) struct Form {
    parts: Multipart,
    fields: FormFields,
}

/// The file part, whose bytes are still to come.
pub(crate) struct FilePart {
    field: Field,
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

    /// Reads up to the file.
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
            let field = field.map_err(form_error)?;
            if file_name(&field).is_some() {
                let declared = field
                    .headers()
                    .get(header::CONTENT_TYPE)
                    .and_then(|value| value.to_str().ok());
                let content_type = declared.map(str::to_owned);
                return Ok((form, FilePart { field, content_type }));
            }
            form.fields.take(field).await?;
        }
        Err(StorageError::NoContent)
    }

    /// The fields read so far.
    pub(crate) fn fields(&self) -> &FormFields {
        &self.fields
    }

    /// Reads what follows the file. Clients may append their fields last; the original would lose those.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) async fn finish(mut self) -> Result<FormFields, StorageError> {
        let mut skipped = 0;
        while let Some(field) = self.parts.next().await {
            let mut field = field.map_err(form_error)?;
            if file_name(&field).is_none() {
                self.fields.take(field).await?;
                continue;
            }
            while let Some(chunk) = field.next().await {
                skipped += chunk.map_err(form_error)?.len();
                if skipped > EXTRA_MAX_BYTES {
                    return Err(StorageError::EntityTooLarge);
                }
            }
        }
        Ok(self.fields)
    }
}

impl FilePart {
    /// The next bytes of the file.
    ///
    /// # Errors
    /// `Aborted` when the client went away inside the part.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, StorageError>> {
        Some(self.field.next().await?.map_err(form_error))
    }
}

fn file_name(field: &Field) -> Option<&str> {
    field.content_disposition().and_then(|disposition| {
        disposition
            .get_filename()
            .or_else(|| disposition.get_filename_ext().map(|_| ""))
    })
}

async fn read_text(mut field: Field, name: &str) -> Result<String, StorageError> {
    let mut text = Vec::new();
    while let Some(chunk) = field.next().await {
        text.extend_from_slice(&chunk.map_err(form_error)?);
        if text.len() > FIELD_MAX_BYTES {
            return Err(match name {
                "metadata" | "userMetadata" => StorageError::UserMetadataTooLarge,
                _ => StorageError::BrokenForm(format!("field {name:?} is too large")),
            });
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn form_error(error: MultipartError) -> StorageError {
    match error {
        MultipartError::Payload(_) | MultipartError::Incomplete => StorageError::Aborted,
        MultipartError::BoundaryMissing => StorageError::BrokenForm("Boundary not found".to_owned()),
        other => StorageError::BrokenForm(other.to_string()),
    }
}
