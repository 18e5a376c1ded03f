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

/// The files that are copied or moved at the same time; more would take the database's connections from the API.
const AT_ONCE: usize = 4;
/// How often a request is sent again when the service is at fault.
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
    /// Deals with the files of the job's batch, and returns those that failed, each with the reason. `is_resumed` tells that some
    /// of them may be done already.
    ///
    /// # Errors
    /// 503 where the services cannot be reached at all.
    pub(super) async fn run_batch(
        &self,
        job: &Job,
        is_resumed: bool,
    ) -> Result<Vec<(String, String)>, ConsoleError> {
        let names = job.batch.as_deref().unwrap_or_default();
        if job.kind == JobKind::Delete {
            return self.delete(job, names).await;
        }
        // In any order, because the batch is written down as a whole.
        let results: Vec<_> = stream::iter(names)
            .map(|name| async move {
                let failure = self.relocate(job, name, is_resumed).await?;
                Ok::<_, ConsoleError>(failure.map(|message| (name.clone(), message)))
            })
            .buffer_unordered(AT_ONCE)
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
        // Names that are not there count as deleted, so a batch may be sent twice.
        if answer.status.is_success() {
            return Ok(Vec::new());
        }
        let message = message_of(&answer);
        Ok(names.iter().map(|name| (name.clone(), message.clone())).collect())
    }

    /// Moves or copies a file; the reason why not, if it failed.
    async fn relocate(
        &self,
        job: &Job,
        name: &str,
        is_resumed: bool,
    ) -> Result<Option<String>, ConsoleError> {
        let Some(step) = job.steps.get(job.step) else {
            return Ok(None);
        };
        let target = Job::target_of(step, name);
        let path = format!("/storage/v1/object/{}", job.kind.name());
        let body = json!({
            "bucketId": job.bucket, "sourceKey": name,
            "destinationBucket": job.target_bucket, "destinationKey": target,
        });
        // The answer comes after the commit, so a success is one also if the process dies right after it.
        let answer = self.send(job, Method::POST, path, body).await?;
        if answer.status.is_success() {
            return Ok(None);
        }
        // Before the crash the file was moved (the source is gone) or copied (the target is taken).
        let code = answer.body["statusCode"].as_str().unwrap_or_default();
        let may_be_done = match job.kind {
            JobKind::Move => code == "404",
            JobKind::Copy => code == "409",
            JobKind::Delete => false,
        };
        if is_resumed && may_be_done && self.was_made_by(job, &target).await? {
            return Ok(None);
        }
        Ok(Some(message_of(&answer)))
    }

    /// Whether the file with this name is the job's work: moved files keep the time at which they were made.
    async fn was_made_by(&self, job: &Job, target: &str) -> Result<bool, ConsoleError> {
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

    /// Sends a request, again where the service is at fault.
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
