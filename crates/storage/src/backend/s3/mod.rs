//! Blobs as objects of one bucket of an S3-compatible store.
//!
//! `{prefix}blobs/{version}` holds a blob; what is being written waits in a local spool folder until a part is full, so
//! that memory stays constant whatever is uploaded, and a failed part can be sent again. Several nodes share one bucket.

mod concat;
mod list;
mod read;
mod write;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
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
use bytes::Bytes;

use self::write::S3Writer;
use super::claim::ClaimedFolder;
use super::{
    Backend, BackendError, BackendResult, BlobEntry, BlobInfo, BlobReader, BlobStat, BlobWriter, Version,
};

/// Whatever S3 can copy with one request.
const COPY_MAX_BYTES: u64 = 5 * 1024 * 1024 * 1024;

/// Where the bucket is and who we are there.
#[derive(Clone)]
pub struct S3BackendConfig {
    /// The bucket; it must exist.
    pub bucket: String,
    /// In front of every key, to share a bucket with others. Default empty.
    pub prefix: String,
    /// The store's address; absent means AWS in `region`.
    pub endpoint: Option<String>,
    /// Region that requests are signed for.
    pub region: String,
    /// Access key.
    pub access_key_id: String,
    /// Its secret.
    pub secret_access_key: String,
    /// Token of temporary credentials.
    pub session_token: Option<String>,
    /// Whether the bucket stands in the path instead of the host name.
    pub path_style: bool,
    /// How often a request that fails is tried before we give up; three times are usual.
    pub attempts: u32,
    /// Local folder for bytes on their way.
    pub spool: PathBuf,
    /// How long a blob that lost its row stays: a large one is read with a second request, which must find what the first
    /// one found. Thirty seconds are plenty.
    pub removal_delay: Duration,
}

impl std::fmt::Debug for S3BackendConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the secrets.
        f.debug_struct("S3BackendConfig")
            .field("bucket", &self.bucket)
            .field("prefix", &self.prefix)
            .field("endpoint", &self.endpoint)
            .field("region", &self.region)
            .field("path_style", &self.path_style)
            .finish_non_exhaustive()
    }
}

/// The S3 backend. Cheap to clone.
#[derive(Debug, Clone)]
pub struct S3Backend {
    store: Arc<Store>,
}

#[derive(Debug)]
struct Store {
    client: Client,
    bucket: String,
    prefix: String,
    spool: ClaimedFolder,
    removal_delay: Duration,
}

impl S3Backend {
    /// Makes a client; nothing is asked of the store yet.
    ///
    /// # Errors
    /// When the spool folder cannot be created.
    pub fn open(config: S3BackendConfig) -> io::Result<Self> {
        let spool = ClaimedFolder::open(&config.spool)?;
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
            .http_client(http)
            .retry_config(RetryConfig::standard().with_max_attempts(config.attempts))
            .timeout_config(timeouts)
            .force_path_style(config.path_style)
            // Compatible stores know no other checksums than those that S3 asks for.
            .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
            .response_checksum_validation(ResponseChecksumValidation::WhenRequired);
        let builder = match config.endpoint {
            // The client appends the bucket to a path as it stands.
            Some(endpoint) => builder.endpoint_url(format!("{}/", endpoint.trim_end_matches('/'))),
            None => builder,
        };
        let store = Store {
            client: Client::from_conf(builder.build()),
            bucket: config.bucket,
            prefix: config.prefix,
            spool,
            removal_delay: config.removal_delay,
        };
        Ok(Self {
            store: Arc::new(store),
        })
    }
}

impl Store {
    /// In front of all our keys.
    fn folder(&self) -> String {
        format!("{}blobs/", self.prefix)
    }

    fn key(&self, version: Version) -> String {
        format!("{}blobs/{version}", self.prefix)
    }

    /// `bucket/key`, as a copy names its source. Both consist of characters that stand for themselves in a URL, but for
    /// what an operator put into the prefix.
    fn copy_source(&self, version: Version) -> String {
        let key = self.key(version);
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

    async fn stat(&self, version: Version) -> BackendResult<BlobStat> {
        let head = self
            .client
            .head_object()
            .bucket(&self.bucket)
            .key(self.key(version));
        Ok(stat_of(&head.send().await.map_err(refused)?))
    }

    async fn remove(&self, version: Version) -> BackendResult<()> {
        let delete = self
            .client
            .delete_object()
            .bucket(&self.bucket)
            .key(self.key(version));
        match delete.send().await.map_err(refused) {
            Ok(_) | Err(BackendError::Missing) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn stat_of(head: &HeadObjectOutput) -> BlobStat {
    BlobStat {
        size_bytes: size(head.content_length()),
        modified: time(head.last_modified()),
    }
}

fn size(length: Option<i64>) -> u64 {
    length.and_then(|length| length.try_into().ok()).unwrap_or(0)
}

/// What the store does not tell is now: young enough for nobody to sweep.
fn time(time: Option<&aws_sdk_s3::primitives::DateTime>) -> SystemTime {
    time.and_then(|time| SystemTime::try_from(*time).ok())
        .unwrap_or_else(SystemTime::now)
}

/// What a refusal of the store means. The text goes to the log, never to a client.
fn refused<E>(error: SdkError<E>) -> BackendError
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    let status = error.raw_response().map(|response| response.status().as_u16());
    let code = error.code().unwrap_or_default().to_owned();
    match (code.as_str(), status) {
        ("NoSuchKey" | "NotFound", _) => BackendError::Missing,
        // A HEAD has no body that could name the code.
        ("", Some(404)) => BackendError::Missing,
        ("XMinioStorageFull" | "InsufficientStorage" | "QuotaExceeded", _) | (_, Some(507)) => {
            BackendError::Io(io::Error::new(io::ErrorKind::StorageFull, text_of(error)))
        }
        ("SlowDown" | "Throttling" | "ThrottlingException" | "RequestLimitExceeded", _)
        | ("", Some(503))
        | (_, Some(429)) => BackendError::SlowDown(text_of(error)),
        (_, Some(500..)) => BackendError::Unavailable(text_of(error)),
        // It answered, and refuses who or what we are: our fault.
        (_, Some(_)) => BackendError::Io(io::Error::other(text_of(error))),
        (_, None) => match error {
            SdkError::ConstructionFailure(_) => BackendError::Io(io::Error::other(text_of(error))),
            _ => BackendError::Unavailable(text_of(error)),
        },
    }
}

fn text_of<E: std::error::Error + Send + Sync + 'static>(error: SdkError<E>) -> String {
    DisplayErrorContext(error).to_string()
}

#[async_trait(?Send)]
impl Backend for S3Backend {
    async fn create(&self, version: Version) -> BackendResult<Box<dyn BlobWriter>> {
        Ok(Box::new(S3Writer::new(Arc::clone(&self.store), version)))
    }

    async fn open(&self, version: Version) -> BackendResult<Box<dyn BlobReader>> {
        Ok(Box::new(read::open(Arc::clone(&self.store), version).await?))
    }

    async fn copy(&self, from: Version, to: Version) -> BackendResult<()> {
        let store = &self.store;
        let stat = store.stat(from).await?;
        if stat.size_bytes > COPY_MAX_BYTES {
            store.concat(&[from], to).await?;
            return Ok(());
        }
        let copy = store
            .client
            .copy_object()
            .bucket(&store.bucket)
            .copy_source(store.copy_source(from))
            .key(store.key(to));
        copy.send().await.map_err(refused)?;
        Ok(())
    }

    async fn remove(&self, version: Version) -> BackendResult<()> {
        self.store.remove(version).await
    }

    async fn concat(&self, parts: &[Version], to: Version) -> BackendResult<BlobStat> {
        self.store.concat(parts, to).await
    }

    async fn stat(&self, version: Version) -> BackendResult<BlobStat> {
        self.store.stat(version).await
    }

    async fn list(&self, after: Option<Version>, limit: usize) -> BackendResult<Vec<BlobEntry>> {
        self.store.list(after, limit).await
    }

    async fn import(&self, version: Version, file: &Path) -> BackendResult<BlobInfo> {
        let mut writer = Box::new(S3Writer::new(Arc::clone(&self.store), version));
        let mut file = tokio::fs::File::open(file).await?;
        loop {
            let mut buffer = vec![0; 256 * 1024];
            let read = tokio::io::AsyncReadExt::read(&mut file, &mut buffer).await?;
            if read == 0 {
                return writer.finish().await;
            }
            buffer.truncate(read);
            writer.write(Bytes::from(buffer)).await?;
        }
    }

    async fn settle(&self) -> BackendResult<()> {
        // The store answers only when the bytes are durable.
        Ok(())
    }

    fn removal_delay(&self) -> Duration {
        self.store.removal_delay
    }

    async fn sweep_unfinished(&self, older_than: Duration) -> BackendResult<u64> {
        let spooled = self.store.spool.remove_abandoned()?;
        Ok(spooled + self.store.abort_uploads(older_than).await?)
    }
}
