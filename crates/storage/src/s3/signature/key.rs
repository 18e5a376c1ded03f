//! The scope of a signature, and the signing key that is derived from a secret for it.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::s3::error::S3Error;

/// The only supported algorithm.
pub(super) const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// The scope of a signature, sent as `access key/date/region/s3/aws4_request`.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) access_key: String,
    pub(crate) date: String,
    pub(crate) region: String,
}

impl Scope {
    /// Reads a credential. Only the access key may contain slashes.
    ///
    /// # Errors
    /// `MalformedSignature`.
    pub(crate) fn parse(credential: &str) -> Result<Self, S3Error> {
        let malformed = S3Error::MalformedSignature("Invalid credentials format");
        // Read from the end, because an access key may contain slashes.
        let mut parts = credential.rsplitn(5, '/');
        let mut part = || parts.next().map(str::to_owned);
        let (Some(end), Some(service), Some(region), Some(date), Some(access_key)) =
            (part(), part(), part(), part(), part())
        else {
            return Err(malformed);
        };
        if end != "aws4_request" || service != "s3" || date.len() != 8 {
            return Err(malformed);
        }
        Ok(Self {
            access_key,
            date,
            region,
        })
    }

    /// The scope without the access key.
    pub(crate) fn text(&self) -> String {
        format!("{}/{}/s3/aws4_request", self.date, self.region)
    }
}

/// A signing key, derived for one scope.
pub(crate) struct SigningKey([u8; 32]);

impl SigningKey {
    /// Derives the key of a secret for a scope.
    pub(crate) fn derive(secret: &str, scope: &Scope) -> Self {
        let date = hmac_sha256(format!("AWS4{secret}").as_bytes(), scope.date.as_bytes());
        let region = hmac_sha256(&date, scope.region.as_bytes());
        let service = hmac_sha256(&region, b"s3");
        Self(hmac_sha256(&service, b"aws4_request"))
    }

    /// Signs a canonical request.
    pub(crate) fn sign_request(&self, timestamp: &str, scope: &str, canonical: &str) -> String {
        let hash = hex::encode(Sha256::digest(canonical.as_bytes()));
        self.sign(format!("{ALGORITHM}\n{timestamp}\n{scope}\n{hash}").as_bytes())
    }

    /// Signs bytes; returns hex.
    pub(crate) fn sign(&self, bytes: &[u8]) -> String {
        hex::encode(hmac_sha256(&self.0, bytes))
    }
}

fn hmac_sha256(key: &[u8], bytes: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(bytes);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_097_the_example_of_the_s3_documentation_has_its_signature() {
        let scope = Scope::parse("AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request").expect("a scope");
        let key = SigningKey::derive(&["wJalrXUtnFEMI/K7MDENG", "/bPxRfiCYEXAMPLEKEY"].concat(), &scope);
        let canonical = "GET\n/test.txt\n\nhost:examplebucket.s3.amazonaws.com\nrange:bytes=0-9\n\
             x-amz-content-sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n\
             x-amz-date:20130524T000000Z\n\nhost;range;x-amz-content-sha256;x-amz-date\n\
             e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

        assert_eq!(
            key.sign_request("20130524T000000Z", &scope.text(), canonical),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
    }

    #[test]
    fn store_097_malformed_credentials_are_refused() {
        for bad in [
            "",
            "a/b/c",
            "k/20130524/r/ec2/aws4_request",
            "k/2013/r/s3/aws4_request",
            "k/20130524/r/s3/aws3",
        ] {
            assert!(Scope::parse(bad).is_err(), "{bad}");
        }
    }
}
