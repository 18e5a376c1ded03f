//! The bucket that holds all blobs: its client, the keys of blobs, and the mapping of the store's errors.

use std::io;
use std::time::{Duration, SystemTime};

use aws_sdk_s3::Client;
use aws_sdk_s3::config::retry::RetryConfig;
use aws_sdk_s3::config::timeout::TimeoutConfig;
use aws_sdk_s3::config::{
    BehaviorVersion, Builder, Credentials, Region, RequestChecksumCalculation, ResponseChecksumValidation,
};
use aws_sdk_s3::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::head_object::HeadObjectOutput;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;

use super::config::S3BackendConfig;
use super::lasting_client::LastingClient;
use crate::backend::claimed_folder::ClaimedFolder;
use crate::backend::{BackendError, BackendResult, BlobStat, Version};

/// Most bytes that S3 copies with one request.
pub(super) const COPY_MAX_BYTES: u64 = 5 * 1024 * 1024 * 1024;

/// One bucket of a store, and the local folder for bytes that are not uploaded yet.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) client: Client,
    pub(super) bucket: String,
    pub(super) prefix: String,
    pub(super) spool: ClaimedFolder,
    pub(super) removal_delay: Duration,
}

impl Store {
    /// Makes a client; no request is sent yet.
    ///
    /// # Errors
    /// When the spool folder cannot be created, or the system cannot start a thread.
    pub(super) fn open(config: S3BackendConfig) -> io::Result<Self> {
        let spool = ClaimedFolder::open(&config.spool)?;
        let (bucket, prefix, removal_delay) =
            (config.bucket.clone(), config.prefix.clone(), config.removal_delay);
        Ok(Self {
            client: build_client(config)?,
            bucket,
            prefix,
            spool,
            removal_delay,
        })
    }

    /// The prefix of the keys of all blobs.
    pub(super) fn folder(&self) -> String {
        format!("{}blobs/", self.prefix)
    }

    /// The S3 key under which the blob is stored.
    pub(super) fn key(&self, version: Version) -> String {
        format!("{}blobs/{version}", self.prefix)
    }

    /// `bucket/key`, as a copy names its source. Keys need no encoding, except for what an operator puts into the
    /// prefix.
    pub(super) fn copy_source(&self, key: &str) -> String {
        let encoded: Vec<_> = key
            .split('/')
            .map(|segment| {
                percent_encoding::utf8_percent_encode(segment, percent_encoding::NON_ALPHANUMERIC)
                    .to_string()
                    .replace("%2D", "-")
            })
            .collect();
        format!("{}/{}", self.bucket, encoded.join("/"))
    }

    /// Size and date of a blob.
    pub(super) async fn stat(&self, version: Version) -> BackendResult<BlobStat> {
        self.stat_key(&self.key(version)).await
    }

    /// Size and date of an object.
    pub(super) async fn stat_key(&self, key: &str) -> BackendResult<BlobStat> {
        let head = self.client.head_object().bucket(&self.bucket).key(key);
        Ok(stat_of(&head.send().await.map_err(map_sdk_error)?))
    }

    /// Removes a blob; one that does not exist counts as removed.
    pub(super) async fn remove(&self, version: Version) -> BackendResult<()> {
        self.remove_key(&self.key(version)).await
    }

    /// Removes an object; one that does not exist counts as removed.
    pub(super) async fn remove_key(&self, key: &str) -> BackendResult<()> {
        let delete = self.client.delete_object().bucket(&self.bucket).key(key);
        match delete.send().await.map_err(map_sdk_error) {
            Ok(_) | Err(BackendError::Missing) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn build_client(config: S3BackendConfig) -> io::Result<Client> {
    let credentials = Credentials::new(
        config.access_key_id,
        config.secret_access_key,
        config.session_token,
        None,
        "selvedge",
    );
    let http = aws_smithy_http_client::Builder::new()
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .build_https();
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(5))
        .read_timeout(Duration::from_secs(60))
        .build();
    let builder = Builder::new()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new(config.region))
        .credentials_provider(credentials)
        .http_client(LastingClient::new(http)?)
        .retry_config(RetryConfig::standard().with_max_attempts(config.attempts))
        .timeout_config(timeouts)
        .force_path_style(config.path_style)
        // Some compatible stores refuse the checksums that newer SDKs add by default.
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(ResponseChecksumValidation::WhenRequired);
    let builder = match config.endpoint {
        // The SDK appends the bucket to the path of the endpoint without adding a slash.
        Some(endpoint) => builder.endpoint_url(format!("{}/", endpoint.trim_end_matches('/'))),
        None => builder,
    };
    Ok(Client::from_conf(builder.build()))
}

fn stat_of(head: &HeadObjectOutput) -> BlobStat {
    BlobStat {
        size_bytes: read_size(head.content_length()),
        modified: read_time(head.last_modified()),
    }
}

/// A length that the store reports; 0 when it is absent or negative.
pub(super) fn read_size(length: Option<i64>) -> u64 {
    length.and_then(|length| length.try_into().ok()).unwrap_or(0)
}

/// A date that the store reports. An absent one counts as now, so that a sweep takes the blob for young and keeps it.
pub(super) fn read_time(time: Option<&aws_sdk_s3::primitives::DateTime>) -> SystemTime {
    time.and_then(|time| SystemTime::try_from(*time).ok())
        .unwrap_or_else(SystemTime::now)
}

/// Maps an error of the SDK. Its text is logged and never sent to a client.
pub(super) fn map_sdk_error<E>(error: SdkError<E>) -> BackendError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    let status = error.raw_response().map(|response| response.status().as_u16());
    let code = error.code().unwrap_or_default().to_owned();
    match (code.as_str(), status) {
        ("NoSuchKey" | "NotFound", _) => BackendError::Missing,
        // The response to a HEAD has no body and so no error code.
        ("", Some(404)) => BackendError::Missing,
        // A full store is reported like a full disk: retrying does not help, an operator has to act.
        ("XMinioStorageFull" | "InsufficientStorage" | "QuotaExceeded", _) | (_, Some(507)) => {
            BackendError::Io(io::Error::new(io::ErrorKind::StorageFull, describe_error(error)))
        }
        // S3 throttles with 503, and the response to a HEAD has no body that could name the code.
        ("SlowDown" | "Throttling" | "ThrottlingException" | "RequestLimitExceeded", _)
        | ("", Some(503))
        | (_, Some(429)) => BackendError::SlowDown(describe_error(error)),
        (_, Some(500..)) => BackendError::Unavailable(describe_error(error)),
        // Any other response is a refusal of our credentials or request, which an operator has to fix.
        (_, Some(_)) => BackendError::Io(io::Error::other(describe_error(error))),
        (_, None) => match error {
            SdkError::ConstructionFailure(_) => BackendError::Io(io::Error::other(describe_error(error))),
            _ => BackendError::Unavailable(describe_error(error)),
        },
    }
}

/// The error's text with its causes.
fn describe_error<E: std::error::Error + Send + Sync + 'static>(error: SdkError<E>) -> String {
    DisplayErrorContext(error).to_string()
}
