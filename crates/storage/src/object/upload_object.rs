//! `POST|PUT /object/{bucket}/{key}` and `PUT /object/upload/sign/…`: uploads an object.
//!
//! The contract fixes the order of checks, which decides the error that a client sees: bucket, robots tag, type,
//! declared size, key, permission. Then the bytes stream into a new blob, and the row is committed.

use actix_web::http::header;
use actix_web::{HttpResponse, web};
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::authorize_write::{WriteIntent, authorize_write};
use super::commit::{CommitChecks, NewObject, commit_object};
use super::lookup::{Bucket, find_bucket};
use super::pending_blob::PendingBlob;
use super::receive::receive_blob;
use super::upload_headers::{read_content_encoding, read_content_length, read_user_metadata, wants_upsert};
use crate::backend::BlobInfo;
use crate::context::RequestContext;
use crate::database::object_row::{Declared, ObjectRow};
use crate::database::session::DbSession;
use crate::error::StorageError;
use crate::identity::Owner;
use crate::request::form::{FilePart, Form, FormFields};
use crate::request::object_path::ObjectPath;
use crate::response::json::json_response;
use crate::url_token;
use crate::validation::content_encoding::parse_content_encoding;
use crate::validation::content_type::ContentType;
use crate::validation::names::{check_bucket_name, check_key};
use crate::validation::object_limits::ObjectLimits;
use crate::validation::robots_tag::check_robots_tag;

/// Largest file of a form that is held in memory until the fields behind it are read: thousands of clients may upload
/// at the same time, so it is small.
const READ_AHEAD_BYTES: usize = 256 * 1024;
/// Type of a body without a Content-Type.
const DEFAULT_MIME_TYPE: &str = "application/octet-stream";
/// Type of a form's part without a Content-Type (RFC 7578 §4.4).
const DEFAULT_PART_TYPE: &str = "text/plain";

/// `POST /object/{bucket}/{key}` → `{"Id","Key"}`; replaces only with `x-upsert: true`.
/// Source: STORE-001, STORE-004, STORE-005.
///
/// # Errors
/// Those of the checks in the order of the module documentation.
pub(crate) async fn upload_object(
    context: &RequestContext,
    target: ObjectPath,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let upsert = wants_upsert(context);
    let stored = store_object(context, Permission::FromPolicies(caller), upsert, target, payload).await?;
    Ok(uploaded_response(&stored))
}

/// `PUT /object/{bucket}/{key}` → `{"Id","Key"}`; replaces or creates. Source: STORE-006.
///
/// # Errors
/// As [`upload_object`].
pub(crate) async fn update_object(
    context: &RequestContext,
    target: ObjectPath,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let stored = store_object(context, Permission::FromPolicies(caller), true, target, payload).await?;
    Ok(uploaded_response(&stored))
}

/// `PUT /object/upload/sign/{bucket}/{key}?token=` → `{"Key"}`; owner and upsert come from the token.
/// Source: STORE-046 to STORE-049.
///
/// # Errors
/// `Schema`, `InvalidJwt`, `InvalidSignature`, and as [`upload_object`].
pub(crate) async fn upload_signed(
    context: &RequestContext,
    target: ObjectPath,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let token = context.query.required("token")?;
    let grant = url_token::verify_upload_token(context.storage(), token, &target)?;
    let permission = Permission::FromToken(Owner { id: grant.owner });
    let stored = store_object(context, permission, grant.upsert, target, payload).await?;
    Ok(json_response(&json!({ "Key": stored.full_key() })))
}

fn uploaded_response(stored: &ObjectRow) -> HttpResponse {
    json_response(&json!({ "Id": stored.id, "Key": stored.full_key() }))
}

/// Where the permission to write comes from.
enum Permission {
    /// From the policies, under this session's role.
    FromPolicies(DbSession),
    /// From a signed URL, whose signer becomes the owner.
    FromToken(Owner),
}

/// An upload whose bucket is known.
struct ObjectUpload<'c> {
    context: &'c RequestContext,
    /// The session whose permission is checked: the caller's, or for a signed URL the service's, which the policies
    /// always allow, so that only a taken key is refused.
    session: DbSession,
    owner: Owner,
    upsert: bool,
    target: ObjectPath,
    bucket: Bucket,
    robots_tag: Option<String>,
}

async fn store_object(
    context: &RequestContext,
    permission: Permission,
    upsert: bool,
    target: ObjectPath,
    payload: web::Payload,
) -> Result<ObjectRow, StorageError> {
    check_bucket_name(&target.bucket)?;
    let bucket = find_bucket(&context.service(), &target.bucket).await?;
    let robots_tag = context
        .header("x-robots-tag")
        .filter(|tag| !tag.is_empty())
        .map(str::to_owned);
    if let Some(robots_tag) = &robots_tag {
        check_robots_tag(robots_tag)?;
    }
    let (session, owner) = match permission {
        Permission::FromPolicies(caller) => {
            let owner = Owner::from_identity(caller.identity());
            (caller, owner)
        }
        Permission::FromToken(owner) => (context.service(), owner),
    };
    let upload = ObjectUpload {
        context,
        session,
        owner,
        upsert,
        target,
        bucket,
        robots_tag,
    };
    if Form::is_form(&context.request) {
        upload.store_form(payload).await
    } else {
        upload.store_body(payload).await
    }
}

impl ObjectUpload<'_> {
    /// Stores the body; headers describe it.
    async fn store_body(self, payload: web::Payload) -> Result<ObjectRow, StorageError> {
        let context = self.context;
        let mime_type = match context.request.headers().get(header::CONTENT_TYPE) {
            None => DEFAULT_MIME_TYPE,
            Some(value) => value
                .to_str()
                .ok()
                .filter(|text| ContentType::parse(text).is_some())
                .ok_or(StorageError::InvalidContentType)?,
        };
        let declared = Declared {
            mime_type: mime_type.to_owned(),
            cache_control: context
                .header("cache-control")
                .filter(|text| !text.is_empty())
                .unwrap_or("no-cache")
                .to_owned(),
            content_encoding: read_content_encoding(context)?,
            robots_tag: self.robots_tag.clone(),
        };
        let user_metadata = read_user_metadata(context).unwrap_or_else(|| json!({}));
        self.limits().check_type(&declared.mime_type)?;
        // Refused before any byte is read. A chunked body declares no length and is counted while it arrives.
        self.limits().check_size(read_content_length(context))?;
        self.authorize(&declared, &user_metadata).await?;
        let (blob, info) = self.receive(&mut ByteSource::Body(payload)).await?;
        self.commit(blob, &info, declared, user_metadata).await
    }

    /// Stores the file part of a form; its fields describe it, including those that follow the file.
    ///
    /// A file of at most [`READ_AHEAD_BYTES`] is read before the permission is checked, so that policies see all fields
    /// wherever they are in the form. A larger one streams to the store while the fields behind it are still unknown:
    /// then the fields before the file must suffice for the permission, and it is checked again with all of them.
    async fn store_form(self, payload: web::Payload) -> Result<ObjectRow, StorageError> {
        let (mut form, mut file) = Form::open(&self.context.request, payload).await?;
        let part_type = file.content_type.clone();
        let idle_timeout = self.context.storage().config().upload_idle_timeout;
        // A file that arrives slowly, or when all forms together hold as much as they may, is treated as a large one, so
        // that the limit on idle time applies while it streams.
        let memory = self.context.storage().form_memory();
        let ahead = file.read_ahead(READ_AHEAD_BYTES, memory);
        if let Ok(is_whole) = tokio::time::timeout(idle_timeout, ahead).await
            && is_whole?
        {
            form.read_rest().await?;
        }
        let (declared, user_metadata) = self.describe(form.fields(), part_type.as_deref())?;
        self.authorize(&declared, &user_metadata).await?;

        let (blob, info) = self.receive(&mut ByteSource::Part(Box::new(file))).await?;
        form.read_rest().await?;
        // Fields behind the file may change type and metadata after the permission was given; policies must see the
        // final ones.
        let (settled, settled_metadata) = self.describe(form.fields(), part_type.as_deref())?;
        if settled.mime_type != declared.mime_type || settled_metadata != user_metadata {
            self.authorize(&settled, &settled_metadata).await?;
        }
        self.commit(blob, &info, settled, settled_metadata).await
    }

    /// Type, cache-control, encoding and user metadata of a form. Downloads send the first three as headers, so they must be valid
    /// ones.
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
        if ContentType::parse(mime_type).is_none() {
            return Err(StorageError::InvalidMimeType(mime_type.to_owned()));
        }
        if cache_control.chars().any(char::is_control) {
            return Err(StorageError::InvalidHeaderCharacter("cache-control"));
        }
        self.limits().check_type(mime_type)?;
        let declared = Declared {
            mime_type: mime_type.to_owned(),
            cache_control,
            content_encoding: parse_content_encoding(fields.content_encoding.as_deref())?,
            robots_tag: self.robots_tag.clone(),
        };
        Ok((
            declared,
            fields.user_metadata.clone().unwrap_or_else(|| json!({})),
        ))
    }

    fn limits(&self) -> ObjectLimits<'_> {
        self.bucket.limits(self.context.storage(), &self.target.key)
    }

    /// Checks the key and the permission.
    async fn authorize(&self, declared: &Declared, user_metadata: &Value) -> Result<(), StorageError> {
        check_key(&self.target.key)?;
        authorize_write(&self.session, &self.intent(declared, user_metadata)).await
    }

    fn intent<'a>(&'a self, declared: &'a Declared, user_metadata: &'a Value) -> WriteIntent<'a> {
        WriteIntent {
            target: &self.target,
            owner: &self.owner,
            mime_type: Some(&declared.mime_type),
            content_length: read_content_length(self.context),
            user_metadata: Some(user_metadata),
            upsert: self.upsert,
        }
    }

    /// Streams the bytes into a new blob, up to the size limit.
    async fn receive(&self, source: &mut ByteSource) -> Result<(PendingBlob, BlobInfo), StorageError> {
        let source = futures_util::stream::unfold(source, async |source| {
            let chunk = source.next().await?;
            Some((chunk, source))
        });
        receive_blob(self.context.storage(), self.limits().max_bytes, Box::pin(source)).await
    }

    async fn commit(
        self,
        blob: PendingBlob,
        info: &BlobInfo,
        declared: Declared,
        user_metadata: Value,
    ) -> Result<ObjectRow, StorageError> {
        let checks = CommitChecks::of(&self.session, &self.intent(&declared, &user_metadata));
        let object = NewObject {
            checks: Some(checks),
            target: self.target,
            owner: self.owner,
            metadata: declared.metadata(info),
            user_metadata: Some(user_metadata),
            upsert: self.upsert,
            blob,
        };
        commit_object(self.context.service(), object).await
    }
}

/// Where the bytes come from.
enum ByteSource {
    Body(web::Payload),
    Part(Box<FilePart>),
}

impl ByteSource {
    async fn next(&mut self) -> Option<Result<Bytes, StorageError>> {
        match self {
            // The connection broke, or the body is shorter than its Content-Length.
            Self::Body(payload) => Some(payload.next().await?.map_err(|_| StorageError::Aborted)),
            Self::Part(part) => part.next().await,
        }
    }
}
