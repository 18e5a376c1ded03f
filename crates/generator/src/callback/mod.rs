//! `/generator/v1/jobs/{id}`: what generators call. Each call carries the job's token as `Authorization: Bearer …`; no API
//! key is asked for, because the token alone decides.
//!
//! | path | body | effect |
//! |---|---|---|
//! | `POST …/picture` | a JPEG, PNG or WebP | stores the picture and uses the token up |
//! | `POST …/progress` | `{"progress": 40}` | shows the owner the progress in percent |
//! | `POST …/failure` | `{"message": "…", "retry": false}` | ends the attempt and uses the token up |
//!
//! Errors are `{"message": "…"}` with 401 for a token that is not, or no longer, valid, 413 for too many bytes, 422 for a
//! picture or body that cannot be used, 503 when the picture could not be stored and may be sent again.

mod picture;

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::AUTHORIZATION;
use actix_web::{HttpRequest, HttpResponse, web};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use uuid::Uuid;

use crate::endpoint::clean_message;
use crate::error::{QueueError, texts};
use crate::metrics::METRICS;
use crate::queue::TakenJob;
use crate::queue::token::CallbackToken;
use crate::state::Generator;
use crate::worker::retry_pause;
use picture::{PictureError, PictureFormat, check_picture};

/// Longest JSON body in bytes.
const MAX_JSON_BYTES: usize = 16 * 1024;
/// How long storing a picture may take before its job is taken over.
const STORING_LEASE: Duration = Duration::from_secs(120);

/// Body of `POST …/progress`.
#[derive(Deserialize)]
struct Progress {
    progress: f64,
}

/// Body of `POST …/failure`, which a generator sends when it could not make the picture.
#[derive(Deserialize)]
struct Failure {
    #[serde(default)]
    message: String,
    #[serde(default)]
    retry: bool,
}

/// Why a generator's callback is refused.
#[derive(Debug, thiserror::Error)]
enum CallbackError {
    #[error("the token is not valid, or no longer")]
    Unauthorized,
    #[error("the body is too large")]
    TooLarge,
    #[error("the body is incomplete")]
    Incomplete,
    #[error("{0}")]
    Unusable(String),
    #[error("the picture could not be stored; send it again later")]
    Unavailable,
}

impl CallbackError {
    fn status(&self) -> StatusCode {
        match self {
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Incomplete => StatusCode::BAD_REQUEST,
            Self::Unusable(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the outcome for the metrics.
    fn outcome(&self) -> &'static str {
        match self {
            Self::Unauthorized => "refused",
            _ => "unusable",
        }
    }
}

impl From<QueueError> for CallbackError {
    fn from(error: QueueError) -> Self {
        tracing::warn!(%error, "a call of a generator cannot be recorded");
        Self::Unavailable
    }
}

impl From<PictureError> for CallbackError {
    fn from(error: PictureError) -> Self {
        Self::Unusable(error.to_string())
    }
}

/// Mounts the routes; the server gives them the prefix `/generator/v1`.
pub fn configure(generator: Arc<Generator>) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
    Box::new(move |service| {
        service
            .app_data(web::Data::from(generator))
            .route("/jobs/{id}/picture", web::post().to(receive_picture))
            .route("/jobs/{id}/progress", web::post().to(receive_progress))
            .route("/jobs/{id}/failure", web::post().to(receive_failure));
    })
}

async fn receive_picture(
    generator: web::Data<Generator>,
    path: web::Path<String>,
    request: HttpRequest,
    body: web::Payload,
) -> HttpResponse {
    respond(deliver_picture(&generator, &path, &request, body).await)
}

async fn receive_progress(
    generator: web::Data<Generator>,
    path: web::Path<String>,
    request: HttpRequest,
    body: web::Payload,
) -> HttpResponse {
    respond(record_progress(&generator, &path, &request, body).await)
}

async fn receive_failure(
    generator: web::Data<Generator>,
    path: web::Path<String>,
    request: HttpRequest,
    body: web::Payload,
) -> HttpResponse {
    respond(record_failure(&generator, &path, &request, body).await)
}

fn respond(result: Result<&'static str, CallbackError>) -> HttpResponse {
    match result {
        Ok(status) => {
            METRICS.callbacks.with_label_values(&["accepted"]).inc();
            HttpResponse::Ok().json(json!({ "status": status }))
        }
        Err(error) => {
            METRICS.callbacks.with_label_values(&[error.outcome()]).inc();
            HttpResponse::build(error.status()).json(json!({ "message": error.to_string() }))
        }
    }
}

/// Stores a picture. The token is checked before the body is read, so that strangers cannot make the server work; it is
/// used up only by a picture that can be stored, so that a generator may correct its mistake.
async fn deliver_picture(
    generator: &Generator,
    id: &str,
    request: &HttpRequest,
    body: web::Payload,
) -> Result<&'static str, CallbackError> {
    let (id, token) = authorize(generator, id, request).await?;
    let bytes = read_body(body, generator.config.max_picture_bytes).await?;
    let format = check_in_background(generator, bytes.clone()).await?;
    // Between the check above and here another call may have used the token.
    let taken = generator.queue.take_token(id, &token, STORING_LEASE).await?;
    let job = taken.ok_or(CallbackError::Unauthorized)?;
    match store_picture(generator, id, &job, format, bytes).await {
        Ok(()) => Ok("succeeded"),
        Err(CallbackError::Unavailable) => {
            let within = generator.config.result_timeout;
            generator
                .queue
                .give_token_back((id, job.attempt), &token, within)
                .await?;
            Err(CallbackError::Unavailable)
        }
        Err(error) => Err(error),
    }
}

async fn store_picture(
    generator: &Generator,
    id: Uuid,
    job: &TakenJob,
    format: PictureFormat,
    bytes: Bytes,
) -> Result<(), CallbackError> {
    let unavailable = |error: crate::store::StoreError| {
        tracing::warn!(%error, %id, "a generated picture cannot be stored");
        CallbackError::Unavailable
    };
    let name = job.target.object_name(id, format.extension);
    let (store, bucket) = (&generator.store, &job.target.bucket);
    store
        .put(bucket, &name, format.content_type, bytes)
        .await
        .map_err(unavailable)?;
    if generator.queue.finish(id, job.attempt, &name, false).await? {
        return Ok(());
    }
    // The job was cancelled or deleted while the picture was stored, so the file would never be used.
    store.delete(bucket, &name).await.map_err(unavailable)?;
    Err(CallbackError::Unauthorized)
}

async fn record_progress(
    generator: &Generator,
    id: &str,
    request: &HttpRequest,
    body: web::Payload,
) -> Result<&'static str, CallbackError> {
    let (id, token) = authorize(generator, id, request).await?;
    let Progress { progress } = read_json(body).await?;
    // 100 is the state of a job that has its picture. The cast is exact enough for a percentage and cannot overflow.
    let percent = progress.clamp(0.0, 99.0) as i16;
    match generator.queue.set_progress_by_token(id, &token, percent).await? {
        true => Ok("running"),
        false => Err(CallbackError::Unauthorized),
    }
}

async fn record_failure(
    generator: &Generator,
    id: &str,
    request: &HttpRequest,
    body: web::Payload,
) -> Result<&'static str, CallbackError> {
    let (id, token) = authorize(generator, id, request).await?;
    let failure: Failure = read_json(body).await?;
    let taken = generator.queue.take_token(id, &token, STORING_LEASE).await?;
    let job = taken.ok_or(CallbackError::Unauthorized)?;
    let message = clean_message(&failure.message).unwrap_or_else(|| texts::REFUSED.to_owned());
    let pause = retry_pause(generator.config.retry_pause, job.attempt);
    let status = generator
        .queue
        .fail((id, job.attempt), &message, !failure.retry, pause)
        .await?;
    match status.as_deref() {
        Some("queued") => Ok("queued"),
        Some(_) => Ok("failed"),
        None => Err(CallbackError::Unauthorized),
    }
}

/// Returns the job's id and the token of an authorized call. An unknown job and a wrong token get the same error, because
/// ids are not secret.
async fn authorize(
    generator: &Generator,
    id: &str,
    request: &HttpRequest,
) -> Result<(Uuid, CallbackToken), CallbackError> {
    let id = Uuid::try_parse(id).map_err(|_| CallbackError::Unauthorized)?;
    let token = bearer_token(request).ok_or(CallbackError::Unauthorized)?;
    match generator.queue.find_by_token(id, &token).await? {
        Some(_) => Ok((id, token)),
        None => Err(CallbackError::Unauthorized),
    }
}

fn bearer_token(request: &HttpRequest) -> Option<CallbackToken> {
    let header = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = header.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| CallbackToken::received(token.trim()))
}

async fn read_json<T: DeserializeOwned>(body: web::Payload) -> Result<T, CallbackError> {
    let bytes = read_body(body, MAX_JSON_BYTES).await?;
    serde_json::from_slice(&bytes).map_err(|error| CallbackError::Unusable(error.to_string()))
}

async fn read_body(mut body: web::Payload, limit: usize) -> Result<Bytes, CallbackError> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|_| CallbackError::Incomplete)?;
        // Counted while it arrives, because Content-Length may be absent or wrong.
        if bytes.len() + chunk.len() > limit {
            return Err(CallbackError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

/// Checks a picture away from the event loop, one at a time.
async fn check_in_background(generator: &Generator, bytes: Bytes) -> Result<PictureFormat, CallbackError> {
    let _one_at_a_time = generator.decoding.lock().await;
    let check = tokio::task::spawn_blocking(move || check_picture(&bytes));
    // A decoder that panics has met a corrupt picture that it should have refused.
    let format = check.await.unwrap_or(Err(PictureError::Broken))?;
    Ok(format)
}
