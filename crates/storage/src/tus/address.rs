//! The address of an upload: `{base}/upload/resumable[/sign]/{id}`, where the id is base64url of `bucket/key/version`.

use actix_web::HttpRequest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::refusal::Refusal;
use crate::names::{check_bucket_name, check_key};
use crate::route::ObjectPath;
use crate::serve::Call;
use crate::version::Version;

/// What an id names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UploadId {
    pub(super) target: ObjectPath,
    pub(super) version: Version,
}

impl UploadId {
    /// Reads an id; what it names is checked like any other address.
    ///
    /// # Errors
    /// `InvalidId`, `InvalidBucketName`, `InvalidKey`.
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| Refusal::InvalidId)?;
        let path = String::from_utf8(bytes).map_err(|_| Refusal::InvalidId)?;
        let (bucket, rest) = path.split_once('/').ok_or(Refusal::InvalidId)?;
        let (key, version) = rest.rsplit_once('/').ok_or(Refusal::InvalidId)?;
        let version = Version::parse(version).ok_or(Refusal::InvalidId)?;
        check_bucket_name(bucket)?;
        check_key(key)?;
        let target = ObjectPath {
            bucket: bucket.to_owned(),
            key: key.to_owned(),
        };
        Ok(Self { target, version })
    }

    fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}/{}", self.target.full(), self.version))
    }

    /// The absolute URL, as the client reaches us through its proxies.
    pub(super) fn location(&self, call: &Call, signed: bool) -> String {
        let config = call.storage().config();
        let base = config
            .public_url
            .clone()
            .unwrap_or_else(|| public_base(&call.request));
        let prefix = call
            .header("x-forwarded-prefix")
            .filter(|prefix| prefix.starts_with('/') && !prefix.starts_with("//"))
            .unwrap_or_default()
            .trim_end_matches('/');
        let folder = if signed { "/sign" } else { "" };
        let base = base.trim_end_matches('/');
        format!(
            "{base}{prefix}{}/upload/resumable{folder}/{}",
            config.mount_path,
            self.text()
        )
    }
}

/// Scheme and host of the request: `Forwarded`, then `X-Forwarded-*`, then `Host`.
fn public_base(request: &HttpRequest) -> String {
    let connection = request.connection_info();
    let (scheme, mut host) = (connection.scheme(), connection.host().to_owned());
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    if header("x-forwarded-host").is_some() && !host.contains(':') {
        let port = header("x-forwarded-port").filter(|port| port.bytes().all(|b| b.is_ascii_digit()));
        if let Some(port) = port.filter(|port| !port.is_empty() && *port != "80" && *port != "443") {
            host = format!("{host}:{port}");
        }
    }
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_088_ids_are_checked_like_any_address() {
        let version = "0a1b2c3d-0000-4000-8000-000000000001";
        let id = |path: &str| URL_SAFE_NO_PAD.encode(path);

        let parsed = UploadId::parse(&id(&format!("b/a/b.txt/{version}"))).expect("well-formed");

        assert_eq!(
            (parsed.target.bucket.as_str(), parsed.target.key.as_str()),
            ("b", "a/b.txt")
        );
        assert_eq!(parsed.version.to_string(), version);
        assert_eq!(UploadId::parse(&parsed.text()).expect("round trip"), parsed);
        for bad in [
            "not-an-id".to_owned(),
            String::new(),
            id("b"),
            id("b/k"),
            id("b/k/v"),
            id(&format!("b/../k/{version}")),
            id(&format!("/k/{version}")),
            id(&format!("b//../../etc/passwd/{version}")),
            URL_SAFE_NO_PAD.encode([0xff, 0x2f, 0x2f]),
        ] {
            assert!(UploadId::parse(&bad).is_err(), "{bad}");
        }
    }
}
