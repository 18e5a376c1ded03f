//! The AWS SDK as a client of our S3 endpoint.

use aws_sdk_s3::Client;
use aws_sdk_s3::config::retry::RetryConfig;
use aws_sdk_s3::config::{BehaviorVersion, Builder, Credentials, Region};
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_s3::primitives::ByteStream;
use selvedge_token::development;

use crate::support::TestApp;

/// A client with the access key of the service.
pub(crate) fn service(app: &TestApp) -> Client {
    client(
        app,
        &development::s3_access_key_id(),
        &development::s3_secret_access_key(),
        None,
    )
}

/// A client with the session token of a user.
pub(crate) fn user(app: &TestApp, name: &str) -> Client {
    let token = app.user(name).token().to_owned();
    client(app, "stub", &development::anon_key(), Some(token))
}

/// A client with any credentials.
pub(crate) fn client(app: &TestApp, access_key: &str, secret: &str, session_token: Option<String>) -> Client {
    let config = Builder::new()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new("us-east-1"))
        .endpoint_url(app.url("/s3/"))
        .credentials_provider(Credentials::new(access_key, secret, session_token, None, "test"))
        // A retry would hide the status of the first response.
        .retry_config(RetryConfig::disabled())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .force_path_style(true)
        .build();
    Client::from_conf(config)
}

/// Status and code of a failed request.
#[track_caller]
pub(crate) fn refusal<T, E>(result: Result<T, SdkError<E>>) -> (u16, String)
where
    E: ProvideErrorMetadata + std::fmt::Debug,
{
    let Err(error) = result else {
        panic!("it was allowed");
    };
    let status = error
        .raw_response()
        .unwrap_or_else(|| panic!("no response: {error:?}"))
        .status()
        .as_u16();
    (status, error.code().unwrap_or_default().to_owned())
}

/// The expected status and code of a failed request.
pub(crate) fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

/// The service with a public bucket `b`.
pub(crate) async fn app_with_bucket() -> TestApp {
    let app = TestApp::start().await;
    app.sql("insert into storage.buckets (id, name, public) values ('b', 'b', true)")
        .await;
    app
}

/// A request body with this text.
pub(crate) fn text(text: &str) -> ByteStream {
    ByteStream::from(text.as_bytes().to_vec())
}
