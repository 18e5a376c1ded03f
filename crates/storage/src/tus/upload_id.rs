//! The id and URL of an upload: `{base}/upload/resumable[/sign]/{id}`, where the id is base64url of
//! `bucket/key/version`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use selvedge_gateway::Caller;

use super::error::TusError;
use crate::backend::Version;
use crate::context::RequestContext;
use crate::request::object_path::ObjectPath;

/// The object that an upload will become, and the version of its bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UploadId {
    pub(super) target: ObjectPath,
    pub(super) version: Version,
}

impl UploadId {
    /// Decodes an id. Bucket and key come from the client, so they are checked like those of any other path.
    ///
    /// # Errors
    /// `InvalidId`, `InvalidBucketName`, `InvalidKey`; `NotFound` for a version that is none of ours.
    pub(super) fn parse(text: &str) -> Result<Self, TusError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| TusError::InvalidId)?;
        let path = String::from_utf8(bytes).map_err(|_| TusError::InvalidId)?;
        let (bucket, rest) = path.split_once('/').ok_or(TusError::InvalidId)?;
        // Keys contain slashes and versions none, so the last slash separates them.
        let (key, version) = rest.rsplit_once('/').ok_or(TusError::InvalidId)?;
        if version.is_empty() {
            return Err(TusError::InvalidId);
        }
        let target = ObjectPath {
            bucket: bucket.to_owned(),
            key: key.to_owned(),
        };
        target.check_names()?;
        // Compat: the original takes any text for a version, and finds no upload with it.
        let version = Version::parse(version).ok_or(TusError::NotFound)?;
        Ok(Self { target, version })
    }

    fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(format!("{}/{}", self.target.full_key(), self.version))
    }

    /// The absolute URL of the upload, under the host and prefix by which the client reaches us through proxies.
    pub(super) fn location(&self, context: &RequestContext, signed: bool) -> String {
        let config = context.storage().config();
        let caller = Caller::extract(&context.request);
        let base = config
            .public_url
            .clone()
            .unwrap_or_else(|| caller.public_origin(&context.request));
        // Behind a proxy that removes a path prefix, the URL has to contain the prefix again.
        let prefix = caller.removed_prefix(&context.request);
        let folder = if signed { "/sign" } else { "" };
        let base = base.trim_end_matches('/');
        format!(
            "{base}{prefix}{}/upload/resumable{folder}/{}",
            config.mount_path,
            self.encode()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_088_bucket_and_key_of_an_upload_id_are_checked() {
        let version = "0a1b2c3d-0000-4000-8000-000000000001";
        let id = |path: &str| URL_SAFE_NO_PAD.encode(path);

        let parsed = UploadId::parse(&id(&format!("b/a/b.txt/{version}"))).expect("well-formed");

        assert_eq!(
            (parsed.target.bucket.as_str(), parsed.target.key.as_str()),
            ("b", "a/b.txt")
        );
        assert_eq!(parsed.version.to_string(), version);
        assert_eq!(UploadId::parse(&parsed.encode()).expect("round trip"), parsed);
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
        let other_version = UploadId::parse(&id("b/k/123"));
        assert!(
            matches!(other_version, Err(TusError::NotFound)),
            "{other_version:?}"
        );
    }
}
