//! Sends a job to the project's HTTP generator: a signed request with links to the pictures, and with the token that
//! the generator needs to deliver its own.

use std::time::Duration;

use selvedge_http_client::{CallResponse, signed_post};
use serde_json::{Value, json};

use crate::config::EndpointConfig;
use crate::error::{AttemptError, texts};
use crate::queue::job::{Input, Job};
use crate::queue::token::CallbackToken;
use crate::state::Generator;

/// Longest message of a generator that owners are shown, in characters.
const MAX_MESSAGE_CHARS: usize = 200;

/// Sends the request. When the generator accepts it, the picture arrives later by a callback.
///
/// # Errors `Permanent` when the generator refuses the job (400, 422), `Temporary` for every other error.
pub(crate) async fn request_picture(
    generator: &Generator,
    endpoint: &EndpointConfig,
    job: &Job,
    token: &CallbackToken,
) -> Result<(), AttemptError> {
    // Rendered once: the signature covers exactly these bytes.
    let body = build_body(generator, job, token)?.to_string();
    // The id differs between attempts, because a generator may ignore a message id that it has seen.
    let message_id = format!("{}.{}", job.id, job.attempt);
    let call = signed_post(&endpoint.url, &endpoint.keys, &message_id, &body)
        .timeout(generator.config.attempt_timeout);
    let response = generator.http.send(call).await.map_err(|error| {
        tracing::warn!(%error, id = %job.id, "the generator cannot be called");
        AttemptError::temporary(texts::UNREACHABLE)
    })?;
    read_response(job, &response)?;
    // When this finds no row, the picture has arrived before the response.
    generator
        .queue
        .await_result(job, generator.config.result_timeout)
        .await?;
    Ok(())
}

fn build_body(generator: &Generator, job: &Job, token: &CallbackToken) -> Result<Value, AttemptError> {
    let config = &generator.config;
    let callback = format!("{}/generator/v1/jobs/{}", config.public_url, job.id);
    Ok(json!({
        "type": "picture.requested",
        "id": job.id,
        "attempt": job.attempt,
        "details": job.input.details,
        "pictures": sign_pictures(generator, &job.input)?,
        "callback": {
            "token": token.as_str(),
            "picture_url": format!("{callback}/picture"),
            "progress_url": format!("{callback}/progress"),
            "failure_url": format!("{callback}/failure"),
            "expires_in": config.result_timeout.as_secs(),
            "max_bytes": config.max_picture_bytes,
        },
    }))
}

/// The sources with links that work for as long as the generator may take.
fn sign_pictures(generator: &Generator, input: &Input) -> Result<Vec<Value>, AttemptError> {
    // A generator may fetch the pictures again at the end of its work.
    let lifetime = generator.config.attempt_timeout + generator.config.result_timeout;
    let sign = |source: &crate::queue::job::Source| -> Result<Value, AttemptError> {
        let path = generator
            .store
            .sign_download(&source.bucket, &source.name, lifetime)?;
        Ok(json!({
            "role": source.role.word(),
            "label": source.label,
            "url": format!("{}{path}", generator.config.public_url),
        }))
    };
    input.sources.iter().map(sign).collect()
}

fn read_response(job: &Job, response: &CallResponse) -> Result<(), AttemptError> {
    match response.status {
        // Any 2xx, as some frameworks answer 200 and others 202.
        200..=299 => Ok(()),
        status @ (400 | 422) => {
            tracing::warn!(status, id = %job.id, "the generator refused a job");
            let message = response_message(response);
            Err(AttemptError::Permanent(
                message.unwrap_or_else(|| texts::REFUSED.to_owned()),
            ))
        }
        status => {
            tracing::warn!(status, id = %job.id, "the generator did not accept a job");
            let seconds = response
                .headers
                .get("retry-after")
                .and_then(|value| value.to_str().ok()?.trim().parse().ok());
            Err(AttemptError::Temporary {
                message: texts::UNREACHABLE.to_owned(),
                retry_after: seconds.map(Duration::from_secs),
            })
        }
    }
}

/// The text of `{"message": "…"}`, which the generator has written for the owner.
fn response_message(response: &CallResponse) -> Option<String> {
    let body: Value = serde_json::from_slice(&response.body).ok()?;
    clean_message(body.get("message")?.as_str()?)
}

/// One line of limited length; `None` when nothing is left.
pub(crate) fn clean_message(text: &str) -> Option<String> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .collect();
    let line = words
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let line: String = line.chars().take(MAX_MESSAGE_CHARS).collect();
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_generators_are_one_short_line() {
        assert_eq!(
            clean_message(" Nobody is\n\u{0}visible. ").as_deref(),
            Some("Nobody is visible.")
        );
        assert_eq!(clean_message(" \n"), None);
        let long = clean_message(&"a".repeat(1000)).expect("a message");
        assert_eq!(long.len(), MAX_MESSAGE_CHARS);
    }
}
