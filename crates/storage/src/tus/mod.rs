//! Resumable uploads: TUS 1.0.0 at `/upload/resumable`, and at `/upload/resumable/sign` for holders of an upload token.
//!
//! An upload is a row ([`upload`]) and pieces: what one request (or a long stretch of one) brought is a blob of its own,
//! durable before its row says so, and the row is what a client is told. So an acknowledged offset survives any crash, any
//! node can go on, and a backend needs to know nothing of resuming. [`receive`] takes bytes in; [`finish`] makes the
//! object of the pieces, once all are there, and again if a crash came between; [`sweep`] ends what nobody finished.
//!
//! Rights are asked on every request that changes something, as the contract has it. Errors are plain text ([`refusal`]);
//! only a missing or broken token answers in the service's own JSON.

mod address;
mod create;
mod finish;
mod headers;
mod patch;
mod receive;
mod refusal;
mod sweep;
mod upload;
mod writers;

use actix_web::http::header::{CACHE_CONTROL, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, web};
use chrono::{DateTime, Utc};

use self::address::UploadId;
use self::refusal::Refusal;
use self::upload::{Upload, Uploads};
use crate::error::StorageError;
use crate::identity::Owner;
use crate::names::is_folder_placeholder;
use crate::object::find::Bucket;
use crate::object::probe::{self, Intent};
use crate::route::{ObjectPath, ResumableRoute};
use crate::serve::{Call, Storage, StorageWorker};
use crate::session::Session;
use crate::url_token;

pub(crate) use sweep::sweep_forever;
pub(crate) use writers::Writers;

const TUS_RESUMABLE: &str = "tus-resumable";
const VERSION: &str = "1.0.0";
const EXTENSIONS: &str = "creation,creation-with-upload,creation-defer-length,termination,expiration";

/// Answers one request of the protocol.
///
/// # Errors
/// A missing or bad token, and an unknown route; all else is answered here.
pub(crate) async fn serve(
    worker: StorageWorker,
    request: HttpRequest,
    payload: web::Payload,
    route: ResumableRoute,
) -> Result<HttpResponse, StorageError> {
    let operation = operation(request.method(), route.signed);
    let call = Call::new(worker, request, operation);
    if call.request.method() == Method::OPTIONS {
        return Ok(capabilities(call.storage()));
    }
    // Compat: without any token this route complains about the token, not about the header.
    let caller = match route.signed {
        true => None,
        false => Some(call.caller().map_err(|error| match error {
            StorageError::Schema(_) => StorageError::AccessDenied("Invalid Compact JWS".to_owned()),
            other => other,
        })?),
    };
    let tus = Tus { call, caller };
    Ok(tus
        .answer(&route, payload)
        .await
        .unwrap_or_else(|refusal| refusal.response()))
}

/// What `storage.operation()` returns.
fn operation(method: &Method, signed: bool) -> &'static str {
    match (method, signed) {
        (&Method::POST, false) => "storage.tus.upload.create",
        (&Method::POST, true) => "storage.tus.upload.create_signed",
        (&Method::PATCH, false) => "storage.tus.upload.part",
        (&Method::PATCH, true) => "storage.tus.upload.part_signed",
        (&Method::HEAD, false) => "storage.tus.upload.get",
        (&Method::HEAD, true) => "storage.tus.upload.get_signed",
        (&Method::DELETE, false) => "storage.tus.upload.delete",
        (&Method::DELETE, true) => "storage.tus.upload.delete_signed",
        _ => "storage.tus.options",
    }
}

/// `OPTIONS`: what we can do; no token needed. Source: STORE-087.
fn capabilities(storage: &Storage) -> HttpResponse {
    answer(StatusCode::NO_CONTENT)
        .insert_header(("tus-version", VERSION))
        .insert_header(("tus-extension", EXTENSIONS))
        .insert_header(("tus-max-size", storage.config().file_size_limit_bytes.to_string()))
        .insert_header(("access-control-max-age", "86400"))
        .finish()
}

/// An answer of the protocol.
fn answer(status: StatusCode) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response.insert_header((TUS_RESUMABLE, VERSION));
    response
}

/// The end of an unfinished upload, as a date.
fn expires(at: DateTime<Utc>) -> (HeaderName, String) {
    let text = at.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    (HeaderName::from_static("upload-expires"), text)
}

/// One request of the protocol. `caller` is absent on signed routes.
struct Tus {
    call: Call,
    caller: Option<Session>,
}

/// Who may write, and as whom.
#[derive(Debug, Clone)]
struct Permit {
    owner: Owner,
    upsert: bool,
}

/// What a policy can see of an upload.
#[derive(Clone, Copy, Default)]
struct Description<'a> {
    mime_type: Option<&'a str>,
    length: Option<u64>,
    user_metadata: Option<&'a serde_json::Value>,
}

impl<'a> Description<'a> {
    fn of(upload: &'a Upload) -> Self {
        Self {
            mime_type: upload.content_type.as_deref(),
            length: upload.length,
            user_metadata: upload.user_metadata.as_ref(),
        }
    }
}

impl Tus {
    async fn answer(self, route: &ResumableRoute, payload: web::Payload) -> Result<HttpResponse, Refusal> {
        headers::check(&self.call.request)?;
        if self.call.request.method() == Method::POST {
            return self.create(payload).await;
        }
        let id = UploadId::parse(route.upload.as_deref().unwrap_or_default())?;
        match *self.call.request.method() {
            Method::HEAD => self.head(&id).await,
            Method::DELETE => self.terminate(&id).await,
            _ => self.patch(&id, payload).await,
        }
    }

    fn uploads(&self) -> Uploads {
        Uploads {
            service: self.call.service(),
            lifetime: self.call.storage().config().resumable_upload_lifetime,
        }
    }

    /// Asks whether `target` may be written: the policies, or the token of a signed route.
    async fn permit(&self, target: &ObjectPath, description: Description<'_>) -> Result<Permit, Refusal> {
        let Some(caller) = &self.caller else {
            let token = self
                .call
                .header("x-signature")
                .ok_or(Refusal::SignatureRequired)?;
            let grant = url_token::verify_upload(self.call.storage(), token, target)?;
            return Ok(Permit {
                owner: Owner { id: grant.owner },
                upsert: grant.upsert,
            });
        };
        let permit = Permit {
            owner: Owner::of(caller.identity()),
            upsert: self.call.header("x-upsert") == Some("true"),
        };
        let intent = Intent {
            target,
            owner: &permit.owner,
            mime_type: description.mime_type,
            content_length: description.length,
            user_metadata: description.user_metadata,
            upsert: permit.upsert,
        };
        probe::may_write(caller, &intent).await?;
        Ok(permit)
    }

    /// Asks with what is known of the upload; an unknown one is refused only after that.
    async fn permit_known(&self, id: &UploadId) -> Result<(Upload, Permit), Refusal> {
        let known = self.uploads().find(id).await?;
        let description = known.as_ref().map(Description::of).unwrap_or_default();
        let permit = self.permit(&id.target, description).await?;
        let upload = known.ok_or(Refusal::NotFound)?;
        upload.check_alive()?;
        Ok((upload, permit))
    }

    /// The largest upload in bytes. Compat: a bucket's limit of 0 is none here.
    fn size_limit(&self, target: &ObjectPath, bucket: &Bucket) -> u64 {
        if is_folder_placeholder(&target.key) {
            return 0;
        }
        let global = self.call.storage().config().file_size_limit_bytes;
        let bucket = bucket.file_size_limit.and_then(|limit| u64::try_from(limit).ok());
        bucket
            .filter(|limit| *limit > 0)
            .map_or(global, |limit| limit.min(global))
    }

    /// `HEAD`: how far the upload is. Any valid token may ask; the id is the secret. Source: STORE-087.
    async fn head(&self, id: &UploadId) -> Result<HttpResponse, Refusal> {
        if self.caller.is_none() {
            self.permit(&id.target, Description::default()).await?;
        }
        let uploads = self.uploads();
        uploads.find(id).await?.ok_or(Refusal::NotFound)?.check_alive()?;
        // The client has lost its connection, whether we know or not: what has come so far must be counted first.
        let _hold = self.call.storage().writers().acquire(id.version).await?;
        let mut upload = uploads.find(id).await?.ok_or(Refusal::NotFound)?;
        if upload.is_full() && !upload.completed && upload.finishing.is_some() {
            // We crashed between the last byte and the object. Who sees a full offset takes the upload for done.
            upload = finish::finish(&uploads, upload).await?;
        }
        let mut response = answer(StatusCode::OK);
        response.insert_header((CACHE_CONTROL, "no-store"));
        response.insert_header(("upload-offset", upload.received.to_string()));
        match upload.length {
            Some(length) => response.insert_header(("upload-length", length.to_string())),
            None => response.insert_header(("upload-defer-length", "1")),
        };
        if let Ok(metadata) = HeaderValue::from_str(&upload.upload_metadata) {
            response.insert_header(("upload-metadata", metadata));
        }
        if !upload.completed {
            response.insert_header(expires(upload.expires_at));
        }
        Ok(response.finish())
    }

    /// `DELETE`: forgets an unfinished upload. Source: STORE-091.
    async fn terminate(&self, id: &UploadId) -> Result<HttpResponse, Refusal> {
        self.permit_known(id).await?;
        let _hold = self.call.storage().writers().acquire(id.version).await?;
        let uploads = self.uploads();
        let upload = uploads.find(id).await?.ok_or(Refusal::NotFound)?;
        if upload.completed || uploads.is_committed(&upload).await? {
            return Err(Refusal::AlreadyComplete);
        }
        uploads.remove(&upload).await?;
        Ok(answer(StatusCode::NO_CONTENT).finish())
    }
}
