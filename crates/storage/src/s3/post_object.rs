//! `POST /{bucket}` with a multipart form: an upload directly from a browser, allowed by the signed policy in the form.

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, web};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use serde_json::{Map, Value};

use super::error::S3Error;
use super::object_headers;
use super::pages::url_encode;
use super::signature::{FormFields, verify_form};
use super::store_object::S3Upload;
use super::unsupported::asks_for_feature;
use super::xml_writer::{MEDIA_TYPE, Xml};
use crate::context::RequestContext;
use crate::database::object_row::ObjectRow;
use crate::error::StorageError;
use crate::object::lookup::find_bucket;
use crate::request::form::Form;
use crate::request::object_path::ObjectPath;
use crate::response::object_headers::set_header;
use crate::validation::names::check_bucket_name;

/// Most text fields of a form.
const MAX_FIELDS: usize = 100;
/// Most bytes of all text fields together.
const MAX_FIELD_BYTES: usize = 256 * 1024;

/// 200, or what `success_action_status` and `success_action_redirect` ask for.
///
/// # Errors
/// Those of the policy and of an upload.
pub(super) async fn post_object(
    context: &RequestContext,
    bucket: &str,
    payload: web::Payload,
) -> Result<HttpResponse, S3Error> {
    if !Form::is_form(&context.request) {
        return Err(S3Error::MissingSignature);
    }
    let mut parts = Multipart::new(context.request.headers(), payload);
    let (fields, file) = read_fields(&mut parts).await?;
    if fields.iter().any(|(name, value)| asks_for_feature(name, value)) {
        return Err(S3Error::NotImplemented);
    }
    let key = fields.get("key").ok_or(S3Error::MissingParameter("key"))?;
    let key = key.replace("${filename}", &file_name(&file));
    // Before the bucket is looked up, so that only signers learn which buckets exist.
    let allowed = verify_form(context.storage(), bucket, &key, &fields)?;

    let caller = context.session_as(allowed.identity);
    check_bucket_name(bucket)?;
    let found = find_bucket(&context.service(), bucket).await?;
    let upload = S3Upload {
        context,
        caller: &caller,
        declared: object_headers::read_declared(
            fields.get("content-type"),
            fields.get("cache-control"),
            fields.get("content-encoding"),
        )?,
        user_metadata: user_metadata(&fields),
        // The Content-Length of a form includes its fields, so the size of the file is unknown until it has arrived.
        length: None,
        policy_limit: allowed.length.map_or(u64::MAX, |(_, most)| most),
        upsert: true,
        bucket: found,
        target: ObjectPath {
            bucket: bucket.to_owned(),
            key,
        },
    };
    let least = allowed.length.map_or(0, |(least, _)| least);
    let stored = upload.store(file_bytes(file, least)).await?;
    build_response(&fields, &stored)
}

/// All fields before the file, and the file. As in S3, fields behind the file are ignored.
async fn read_fields(parts: &mut Multipart) -> Result<(FormFields, Field), S3Error> {
    let mut fields = FormFields::default();
    let mut total = 0;
    while let Some(field) = parts.next().await {
        let mut field = field.map_err(map_form_error)?;
        let name = field.name().unwrap_or_default().to_owned();
        if name.eq_ignore_ascii_case("file") {
            return Ok((fields, field));
        }
        let mut text = Vec::new();
        while let Some(bytes) = field.next().await {
            let bytes = bytes.map_err(map_form_error)?;
            total += bytes.len();
            if total > MAX_FIELD_BYTES {
                return Err(StorageError::EntityTooLarge.into());
            }
            text.extend_from_slice(&bytes);
        }
        if !fields.push(&name, String::from_utf8_lossy(&text).into_owned()) {
            return Err(S3Error::InvalidRequest("The form has a field more than once"));
        }
        if fields.len() > MAX_FIELDS {
            return Err(S3Error::InvalidRequest("The form has too many fields"));
        }
    }
    Err(StorageError::NoContent.into())
}

/// The name of the uploaded file, for `${filename}` in the key.
fn file_name(file: &Field) -> String {
    let name = file
        .content_disposition()
        .and_then(|disposition| disposition.get_filename());
    // Old browsers send the whole local path.
    let name = name.unwrap_or_default();
    name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned()
}

/// The file's bytes; fewer than `least` are an error.
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
                Some(Err(error)) => Some((Err(map_form_error(error)), (file, read, true))),
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

fn map_form_error(error: MultipartError) -> S3Error {
    match error {
        MultipartError::Payload(_) | MultipartError::Incomplete => StorageError::Aborted.into(),
        other => StorageError::BrokenForm(other.to_string()).into(),
    }
}

/// Fields `x-amz-meta-*` as a JSON object.
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

/// Builds the response that `success_action_redirect` or `success_action_status` requests.
fn build_response(fields: &FormFields, stored: &ObjectRow) -> Result<HttpResponse, S3Error> {
    let etag = stored.etag().unwrap_or_default();
    let location = format!("/{}", url_encode(&stored.full_key()));
    let redirect = fields
        .get("success_action_redirect")
        .and_then(|url| redirect_to(url, stored, etag));
    let mut response = HttpResponse::build(match (&redirect, fields.get("success_action_status")) {
        (Some(_), _) => StatusCode::SEE_OTHER,
        (None, Some("201")) => StatusCode::CREATED,
        (None, Some("204")) => StatusCode::NO_CONTENT,
        _ => StatusCode::OK,
    });
    set_header(&mut response, header::ETAG, etag);
    let to = redirect.unwrap_or_else(|| location.clone());
    set_header(&mut response, HeaderName::from_static("location"), &to);
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

/// The redirect URL of the form, extended by bucket, key and tag. The policy has allowed the URL; only http(s) is used.
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
