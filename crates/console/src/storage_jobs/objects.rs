//! Moves, copies and deletes files by requests to the storage service.

use std::time::Duration;

use actix_web::http::{Method, StatusCode};
use futures_util::{StreamExt as _, stream};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::job::Job;
use super::request::JobKind;
use crate::error::ConsoleError;
use crate::services::{Answer, Call, ThreadApi, call_service};
use crate::state::ConsoleState;

/// How many files are copied or moved at the same time. More would take database connections from the API's clients.
const MAX_PARALLEL_FILES: usize = 4;
/// How often a request is sent while the service responds 5xx or 429.
const MOST_TRIES: u32 = 3;
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Characters that are not percent-encoded in an object's path; slashes separate folders and stay.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Calls the storage service for a job.
pub(super) struct Objects<'a> {
    pub(super) state: &'a ConsoleState,
    pub(super) api: &'a ThreadApi,
}

impl Objects<'_> {
    /// Processes the job's batch, and returns the names of failed files with the reasons. With `is_resumed` some files may have been
    /// processed before a crash.
    ///
    /// # Errors
    /// 503 when the services cannot be reached.
    pub(super) async fn run_batch(
        &self,
        job: &Job,
        is_resumed: bool,
    ) -> Result<Vec<(String, String)>, ConsoleError> {
        let names = job.batch.as_deref().unwrap_or_default();
        if job.kind == JobKind::Delete {
            return self.delete(job, names).await;
        }
        // The order does not matter, because progress is stored for the whole batch.
        let results: Vec<_> = stream::iter(names)
            .map(|name| async move {
                let failure = self.move_or_copy(job, name, is_resumed).await?;
                Ok::<_, ConsoleError>(failure.map(|message| (name.clone(), message)))
            })
            .buffer_unordered(MAX_PARALLEL_FILES)
            .collect()
            .await;
        let failures: Result<Vec<_>, _> = results.into_iter().collect();
        Ok(failures?.into_iter().flatten().collect())
    }

    async fn delete(&self, job: &Job, names: &[String]) -> Result<Vec<(String, String)>, ConsoleError> {
        let path = format!("/storage/v1/object/{}", encode(&job.bucket));
        let answer = self
            .send(job, Method::DELETE, path, json!({ "prefixes": names }))
            .await?;
        // The service ignores names of missing files, so a batch can be repeated.
        if answer.status.is_success() {
            return Ok(Vec::new());
        }
        let message = message_of(&answer);
        Ok(names.iter().map(|name| (name.clone(), message.clone())).collect())
    }

    /// Moves or copies a file, and returns the reason if that failed.
    async fn move_or_copy(
        &self,
        job: &Job,
        name: &str,
        is_resumed: bool,
    ) -> Result<Option<String>, ConsoleError> {
        let Some(step) = job.steps.get(job.step) else {
            return Ok(None);
        };
        let target = Job::target_name(step, name);
        let path = format!("/storage/v1/object/{}", job.kind.name());
        let body = json!({
            "bucketId": job.bucket, "sourceKey": name,
            "destinationBucket": job.target_bucket, "destinationKey": target,
        });
        // The service responds after its commit, so a success stays one even if the process dies afterwards.
        let answer = self.send(job, Method::POST, path, body).await?;
        if answer.status.is_success() {
            return Ok(None);
        }
        // The file may have been moved before the crash (404: the source is missing) or copied (409: the target exists).
        let code = answer.body["statusCode"].as_str().unwrap_or_default();
        let may_be_done = match job.kind {
            JobKind::Move => code == "404",
            JobKind::Copy => code == "409",
            JobKind::Delete => false,
        };
        if is_resumed && may_be_done && self.was_created_by(job, &target).await? {
            return Ok(None);
        }
        Ok(Some(message_of(&answer)))
    }

    /// Whether the job created the file `target`. A copy is newer than the job; a moved file keeps its time of creation, so that its
    /// existence is enough.
    async fn was_created_by(&self, job: &Job, target: &str) -> Result<bool, ConsoleError> {
        let bucket = encode(&job.target_bucket);
        let path = format!(
            "/storage/v1/object/info/authenticated/{bucket}/{}",
            encode(target)
        );
        let answer = self.send(job, Method::GET, path, Value::Null).await?;
        if !answer.status.is_success() {
            return Ok(false);
        }
        let time = |text: &str| chrono::DateTime::parse_from_rfc3339(text).ok();
        let made_at = answer.body["created_at"].as_str().and_then(time);
        Ok(job.kind == JobKind::Move || made_at >= time(&job.created_at))
    }

    /// Sends a request, and repeats it while the service responds 5xx or 429, up to [`MOST_TRIES`] times.
    async fn send(
        &self,
        job: &Job,
        method: Method,
        path: String,
        body: Value,
    ) -> Result<Answer, ConsoleError> {
        let key = self.state.api()?.service_key.expose_secret();
        let mut tries = 0;
        loop {
            tries += 1;
            let call = Call {
                method: method.clone(),
                path: path.clone(),
                body: body.clone(),
                key,
                token: Some(key),
                request_id: &job.session.request_id,
                address: &job.session.address,
            };
            let answer = call_service(self.state, self.api, call).await?;
            let is_fault = answer.status.is_server_error() || answer.status == StatusCode::TOO_MANY_REQUESTS;
            if !is_fault || tries == MOST_TRIES {
                return Ok(answer);
            }
            tokio::time::sleep(RETRY_PAUSE * tries).await;
        }
    }
}

fn message_of(answer: &Answer) -> String {
    let text = answer.body["message"].as_str();
    text.map_or_else(|| format!("Storage answered {}", answer.status), str::to_owned)
}

fn encode(name: &str) -> String {
    utf8_percent_encode(name, PATH).to_string()
}
