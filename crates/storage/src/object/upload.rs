//! `POST|PUT /object/{bucket}/{key}` and `PUT /object/upload/sign/…`: bytes come in.
//!
//! The order of checks decides which error wins and is the contract's: bucket, robots tag, type, declared size, key,
//! permission; then the bytes stream into a fresh blob, counted; then the row.

use actix_web::http::header;
use actix_web::{HttpResponse, web};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::commit::{self, NewObject, PendingBlob};
use super::find::{self, Bucket};
use super::intake;
use super::probe::{self, Intent};
use crate::answer::json_answer;
use crate::backend::BlobInfo;
use crate::error::StorageError;
use crate::identity::Owner;
use crate::limits::{check_mime_type, is_content_type};
use crate::multipart::{FilePart, Form, FormFields, json_object};
use crate::names::{check_bucket_name, check_key, is_folder_placeholder};
use crate::object_row::{Declared, ObjectRow};
use crate::robots::check_robots_tag;
use crate::route::ObjectPath;
use crate::serve::Call;
use crate::session::Session;
use crate::url_token;

/// Type of a body that declares none.
const DEFAULT_MIME_TYPE: &str = "application/octet-stream";
/// Type of a form's part that declares none, as RFC 7578 says.
const DEFAULT_PART_TYPE: &str = "text/plain";

/// `POST /object/{bucket}/{key}` → `{"Id","Key"}`; replaces only with `x-upsert: true`.
/// Source: STORE-001, STORE-004, STORE-005.
///
/// # Errors
/// Those of the checks above, in their order.
pub(crate) async fn upload(
    call: &Call,
    target: ObjectPath,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    let upsert = wants_upsert(call);
    let stored = store(call, Permission::Asked(caller), upsert, target, payload).await?;
    Ok(uploaded(&stored))
}

/// `PUT /object/{bucket}/{key}` → `{"Id","Key"}`; replaces or creates. Source: STORE-006.
///
/// # Errors
/// As [`upload`].
pub(crate) async fn update(
    call: &Call,
    target: ObjectPath,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = call.caller()?;
    let stored = store(call, Permission::Asked(caller), true, target, payload).await?;
    Ok(uploaded(&stored))
}

/// `PUT /object/upload/sign/{bucket}/{key}?token=` → `{"Key"}`; owner and upsert come from the token.
/// Source: STORE-046 to STORE-049.
///
/// # Errors
/// `Schema`, `InvalidJwt`, `InvalidSignature`, and as [`upload`].
pub(crate) async fn upload_signed(
    call: &Call,
    target: ObjectPath,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let token = call.query.required("token")?;
    let grant = url_token::verify_upload(call.storage(), token, &target)?;
    let permission = Permission::Granted(Owner { id: grant.owner });
    let stored = store(call, permission, grant.upsert, target, payload).await?;
    Ok(json_answer(&json!({ "Key": stored.full_key() })))
}

/// Whether the request asks to replace. Compat: exactly the text `true` does.
pub(super) fn wants_upsert(call: &Call) -> bool {
    call.header("x-upsert") == Some("true")
}

/// `x-metadata`: base64 of a JSON object; anything else is ignored.
pub(super) fn metadata_header(call: &Call) -> Option<Value> {
    let text = call.header("x-metadata")?;
    let bytes = STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()?;
    json_object(&bytes)
}

/// The declared size of the body in bytes.
pub(super) fn content_length(call: &Call) -> Option<u64> {
    call.header(header::CONTENT_LENGTH.as_str())?.parse().ok()
}

fn uploaded(stored: &ObjectRow) -> HttpResponse {
    json_answer(&json!({ "Id": stored.id, "Key": stored.full_key() }))
}

/// Who says that the object may be written.
enum Permission {
    /// The policies, asked under this session's role.
    Asked(Session),
    /// A signed URL of this owner.
    Granted(Owner),
}

/// An upload whose bucket is known.
struct Upload<'c> {
    call: &'c Call,
    /// Whose rights decide: the caller's, or the service's for a signed URL, where only a taken key can still refuse.
    session: Session,
    owner: Owner,
    upsert: bool,
    target: ObjectPath,
    bucket: Bucket,
    robots_tag: Option<String>,
}

async fn store(
    call: &Call,
    permission: Permission,
    upsert: bool,
    target: ObjectPath,
    payload: web::Payload,
) -> Result<ObjectRow, StorageError> {
    check_bucket_name(&target.bucket)?;
    let bucket = find::get_bucket(&call.service(), &target.bucket).await?;
    let robots_tag = call
        .header("x-robots-tag")
        .filter(|tag| !tag.is_empty())
        .map(str::to_owned);
    if let Some(robots_tag) = &robots_tag {
        check_robots_tag(robots_tag)?;
    }
    let (session, owner) = match permission {
        Permission::Asked(caller) => {
            let owner = Owner::of(caller.identity());
            (caller, owner)
        }
        Permission::Granted(owner) => (call.service(), owner),
    };
    let upload = Upload {
        call,
        session,
        owner,
        upsert,
        target,
        bucket,
        robots_tag,
    };
    if Form::is_form(&call.request) {
        upload.store_form(payload).await
    } else {
        upload.store_body(payload).await
    }
}

impl Upload<'_> {
    /// The body is the object; headers describe it.
    async fn store_body(self, payload: web::Payload) -> Result<ObjectRow, StorageError> {
        let call = self.call;
        let mime_type = match call.request.headers().get(header::CONTENT_TYPE) {
            None => DEFAULT_MIME_TYPE,
            Some(value) => value
                .to_str()
                .ok()
                .filter(|text| is_content_type(text))
                .ok_or(StorageError::InvalidContentType)?,
        };
        let declared = Declared {
            mime_type: mime_type.to_owned(),
            cache_control: call
                .header("cache-control")
                .filter(|text| !text.is_empty())
                .unwrap_or("no-cache")
                .to_owned(),
            robots_tag: self.robots_tag.clone(),
        };
        let user_metadata = metadata_header(call).unwrap_or_else(|| json!({}));
        self.check_type(&declared.mime_type)?;
        if content_length(call).is_some_and(|length| length > self.size_limit()) {
            return Err(StorageError::EntityTooLarge);
        }
        self.ask(&declared, &user_metadata).await?;
        let (blob, info) = self.receive(&mut Source::Body(payload)).await?;
        self.commit(blob, &info, declared, user_metadata).await
    }

    /// The object is the file part of a form; fields describe it, also those behind it.
    async fn store_form(self, payload: web::Payload) -> Result<ObjectRow, StorageError> {
        let (form, file) = Form::open(&self.call.request, payload).await?;
        let part_type = file.content_type.clone();
        let (declared, user_metadata) = self.describe(form.fields(), part_type.as_deref())?;
        self.ask(&declared, &user_metadata).await?;

        let (blob, info) = self.receive(&mut Source::Part(Box::new(file))).await?;
        let (settled, settled_metadata) = self.describe(&form.finish().await?, part_type.as_deref())?;
        if settled.mime_type != declared.mime_type || settled_metadata != user_metadata {
            // Late fields changed what policies look at: they are asked again.
            self.ask(&settled, &settled_metadata).await?;
        }
        self.commit(blob, &info, settled, settled_metadata).await
    }

    /// What a form declares. It is sent back as headers one day, so it must be able to be one.
    fn describe(
        &self,
        fields: &FormFields,
        part_type: Option<&str>,
    ) -> Result<(Declared, Value), StorageError> {
        let mime_type = fields
            .content_type
            .as_deref()
            .or(part_type)
            .unwrap_or(DEFAULT_PART_TYPE);
        let cache_control = fields.cache_control();
        if !is_content_type(mime_type) {
            return Err(StorageError::InvalidMimeType(mime_type.to_owned()));
        }
        if cache_control.chars().any(char::is_control) {
            return Err(StorageError::InvalidHeaderCharacter("cache-control"));
        }
        self.check_type(mime_type)?;
        let declared = Declared {
            mime_type: mime_type.to_owned(),
            cache_control,
            robots_tag: self.robots_tag.clone(),
        };
        Ok((
            declared,
            fields.user_metadata.clone().unwrap_or_else(|| json!({})),
        ))
    }

    fn check_type(&self, mime_type: &str) -> Result<(), StorageError> {
        if is_folder_placeholder(&self.target.key) {
            return Ok(());
        }
        check_mime_type(mime_type, self.bucket.allowed_mime_types.as_deref())
    }

    fn size_limit(&self) -> u64 {
        if is_folder_placeholder(&self.target.key) {
            return 0;
        }
        let global = self.call.storage().config().file_size_limit_bytes;
        let bucket = self
            .bucket
            .file_size_limit
            .and_then(|limit| u64::try_from(limit).ok());
        bucket.map_or(global, |bucket| bucket.min(global))
    }

    /// Key and permission.
    async fn ask(&self, declared: &Declared, user_metadata: &Value) -> Result<(), StorageError> {
        check_key(&self.target.key)?;
        let intent = Intent {
            target: &self.target,
            owner: &self.owner,
            mime_type: Some(&declared.mime_type),
            content_length: content_length(self.call),
            user_metadata: Some(user_metadata),
            upsert: self.upsert,
        };
        probe::may_write(&self.session, &intent).await
    }

    /// Streams the bytes into a fresh blob, in constant memory, and stops at the limit.
    async fn receive(&self, source: &mut Source) -> Result<(PendingBlob, BlobInfo), StorageError> {
        let source = futures_util::stream::unfold(source, async |source| {
            let chunk = source.next().await?;
            Some((chunk, source))
        });
        intake::receive(self.call.worker.storage(), self.size_limit(), Box::pin(source)).await
    }

    async fn commit(
        self,
        blob: PendingBlob,
        info: &BlobInfo,
        declared: Declared,
        user_metadata: Value,
    ) -> Result<ObjectRow, StorageError> {
        let object = NewObject {
            target: self.target,
            owner: self.owner,
            metadata: declared.metadata(info),
            user_metadata: Some(user_metadata),
            upsert: self.upsert,
            blob,
        };
        commit::commit(self.call.service(), object).await
    }
}

/// Where the bytes come from.
enum Source {
    Body(web::Payload),
    Part(Box<FilePart>),
}

impl Source {
    async fn next(&mut self) -> Option<Result<Bytes, StorageError>> {
        match self {
            // The connection broke, or the body is not as long as it was said to be.
            Self::Body(payload) => Some(payload.next().await?.map_err(|_| StorageError::Aborted)),
            Self::Part(part) => part.next().await,
        }
    }
}
