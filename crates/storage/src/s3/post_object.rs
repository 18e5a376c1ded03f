//! `POST /{bucket}` with a form: an upload straight from a browser, allowed by the policy in the form.

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, web};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use serde_json::{Map, Value};

use super::error::S3Error;
use super::put_object::Upload;
use super::signature::policy::{self, FormFields};
use super::xml::{MEDIA_TYPE, Xml};
use super::{declared, list_objects};
use crate::error::StorageError;
use crate::multipart::Form;
use crate::names::check_bucket_name;
use crate::object::find;
use crate::object_row::ObjectRow;
use crate::route::ObjectPath;
use crate::serve::Call;

/// Most text fields of a form, and most bytes of all of them.
const FIELDS_MAX: usize = 100;
const FIELDS_MAX_BYTES: usize = 256 * 1024;

/// 200, or what `success_action_status` and `success_action_redirect` ask for.
///
/// # Errors
/// Those of the policy and of an upload.
pub(super) async fn post_object(
    call: &Call,
    bucket: &str,
    payload: web::Payload,
) -> Result<HttpResponse, S3Error> {
    if !Form::is_form(&call.request) {
        return Err(S3Error::MissingSignature);
    }
    let mut parts = Multipart::new(call.request.headers(), payload);
    let (fields, file) = read_fields(&mut parts).await?;
    let key = fields.get("key").ok_or(S3Error::MissingParameter("key"))?;
    let key = key.replace("${filename}", &file_name(&file));
    let allowed = policy::verify(call.storage(), bucket, &key, &fields)?;

    let caller = call.session_of(allowed.identity);
    check_bucket_name(bucket)?;
    let found = find::get_bucket(&call.service(), bucket).await?;
    let global = call.storage().config().file_size_limit_bytes;
    let own = found.file_size_limit.and_then(|limit| u64::try_from(limit).ok());
    let most = allowed.length.map_or(u64::MAX, |(_, most)| most);
    let upload = Upload {
        call,
        caller: &caller,
        declared: declared::declared(fields.get("content-type"), fields.get("cache-control"))?,
        user_metadata: user_metadata(&fields),
        length: None,
        limit: own.map_or(global, |own| own.min(global)).min(most),
        upsert: true,
        bucket: found,
        target: ObjectPath {
            bucket: bucket.to_owned(),
            key,
        },
    };
    let least = allowed.length.map_or(0, |(least, _)| least);
    let stored = upload.store(file_bytes(file, least)).await?;
    respond(&fields, &stored)
}

/// All fields in front of the file, and the file. Fields behind it are not read, as in S3.
async fn read_fields(parts: &mut Multipart) -> Result<(FormFields, Field), S3Error> {
    let mut fields = FormFields::default();
    let mut total = 0;
    while let Some(field) = parts.next().await {
        let mut field = field.map_err(broken)?;
        let name = field.name().unwrap_or_default().to_owned();
        if name.eq_ignore_ascii_case("file") {
            return Ok((fields, field));
        }
        let mut text = Vec::new();
        while let Some(bytes) = field.next().await {
            let bytes = bytes.map_err(broken)?;
            total += bytes.len();
            if total > FIELDS_MAX_BYTES {
                return Err(StorageError::EntityTooLarge.into());
            }
            text.extend_from_slice(&bytes);
        }
        fields.push(&name, String::from_utf8_lossy(&text).into_owned());
        if fields.len() > FIELDS_MAX {
            return Err(S3Error::InvalidRequest("The form has too many fields"));
        }
    }
    Err(StorageError::NoContent.into())
}

fn file_name(file: &Field) -> String {
    let name = file
        .content_disposition()
        .and_then(|disposition| disposition.get_filename());
    // Browsers of old sent whole paths.
    let name = name.unwrap_or_default();
    name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned()
}

/// The file's bytes; an end before `least` of them is an error.
fn file_bytes(file: Field, least: u64) -> impl Stream<Item = Result<Bytes, S3Error>> + Unpin {
    let stream = futures_util::stream::unfold(
        (file, 0_u64, false),
        move |(mut file, mut read, over)| async move {
            if over {
                return None;
            }
            match file.next().await {
                Some(Ok(bytes)) => {
                    read += bytes.len() as u64;
                    Some((Ok(bytes), (file, read, false)))
                }
                Some(Err(error)) => Some((Err(broken(error)), (file, read, true))),
                None if read < least => {
                    let error = S3Error::InvalidRequest(
                        "Your proposed upload is smaller than the minimum allowed size",
                    );
                    Some((Err(error), (file, read, true)))
                }
                None => None,
            }
        },
    );
    Box::pin(stream)
}

fn broken(error: MultipartError) -> S3Error {
    match error {
        MultipartError::Payload(_) | MultipartError::Incomplete => StorageError::Aborted.into(),
        other => StorageError::BrokenForm(other.to_string()).into(),
    }
}

fn user_metadata(fields: &FormFields) -> Value {
    let metadata: Map<String, Value> = fields
        .iter()
        .filter_map(|(name, value)| {
            let name = name.strip_prefix("x-amz-meta-")?;
            Some((name.to_owned(), Value::String(value.to_owned())))
        })
        .collect();
    Value::Object(metadata)
}

fn respond(fields: &FormFields, stored: &ObjectRow) -> Result<HttpResponse, S3Error> {
    let etag = stored.etag().unwrap_or_default();
    let location = format!("/{}", list_objects::url_encode(&stored.full_key()));
    let redirect = fields
        .get("success_action_redirect")
        .and_then(|url| redirect_to(url, stored, etag));
    let mut response = HttpResponse::build(match (&redirect, fields.get("success_action_status")) {
        (Some(_), _) => StatusCode::SEE_OTHER,
        (None, Some("201")) => StatusCode::CREATED,
        (None, Some("204")) => StatusCode::NO_CONTENT,
        _ => StatusCode::OK,
    });
    crate::asset::set(&mut response, header::ETAG, etag);
    let to = redirect.unwrap_or_else(|| location.clone());
    crate::asset::set(&mut response, HeaderName::from_static("location"), &to);
    if fields.get("success_action_status") != Some("201") {
        return Ok(response.finish());
    }
    let mut xml = Xml::new();
    xml.element("PostResponse", |xml| {
        xml.text("Location", &location);
        xml.text("Bucket", &stored.bucket_id);
        xml.text("Key", &stored.name);
        xml.text("ETag", etag);
    });
    Ok(response.content_type(MEDIA_TYPE).body(xml.finish()))
}

/// The form's URL with what was stored; the policy has allowed it.
fn redirect_to(url: &str, stored: &ObjectRow, etag: &str) -> Option<String> {
    let is_web = url.starts_with("http://") || url.starts_with("https://");
    if !is_web || HeaderValue::from_str(url).is_err() {
        return None;
    }
    let separator = if url.contains('?') { '&' } else { '?' };
    let query = serde_urlencoded::to_string([
        ("bucket", stored.bucket_id.as_str()),
        ("key", stored.name.as_str()),
        ("etag", etag),
    ]);
    Some(format!("{url}{separator}{}", query.ok()?))
}
