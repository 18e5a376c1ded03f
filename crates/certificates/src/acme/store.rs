//! The folder with the account, the certificate and what became of attempts. Every file is its owner's alone, and replaced in one step.

use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::AcmeError;
use super::order::Issued;
use crate::certificate::Certificate;

/// The private key and the chain in one file, so that none of them is ever that of another certificate.
const CERTIFICATE: &str = "certificate.pem";
/// The first line of that file: this, and the URL of the authority's directory.
const DIRECTORY: &str = "# issued by ";

/// Makes the folder.
pub(super) fn create_folder(folder: &Path) -> Result<(), AcmeError> {
    let made = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder);
    made.map_err(in_file(folder))
}

/// A certificate of the folder.
pub(super) struct KeptCertificate {
    pub(super) certificate: Certificate,
    /// The directory of the authority that has issued it; `None` where the file does not say.
    pub(super) directory: Option<String>,
}

/// The certificate of an earlier start. `None` without one, and where its file is damaged: then another one is obtained.
pub(super) fn read_certificate(folder: &Path) -> Option<KeptCertificate> {
    let text = std::fs::read(folder.join(CERTIFICATE)).ok()?;
    let first_line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let directory = std::str::from_utf8(first_line)
        .ok()
        .and_then(|line| line.strip_prefix(DIRECTORY))
        .map(str::to_owned);
    match Certificate::parse(&text, &text) {
        Ok(certificate) => Some(KeptCertificate {
            certificate,
            directory,
        }),
        Err(error) => {
            tracing::warn!(%error, "the kept certificate cannot be used");
            None
        }
    }
}

/// Keeps a certificate, with the authority that has issued it. Programs that read PEM pass over the first line.
pub(super) fn write_certificate(folder: &Path, directory: &str, issued: &Issued) -> Result<(), AcmeError> {
    let text = format!("{DIRECTORY}{directory}\n{}\n{}", issued.key, issued.chain);
    write_private(&folder.join(CERTIFICATE), &text)
}

/// Reads a file; `None` where there is none.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, AcmeError> {
    let text = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(in_file(path))?,
    };
    let value = serde_json::from_slice(&text);
    value.map(Some).map_err(|error| in_file(path)(error.into()))
}

pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), AcmeError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| in_file(path)(error.into()))?;
    write_private(path, &text)
}

fn write_private(path: &Path, text: &str) -> Result<(), AcmeError> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    let unfinished = PathBuf::from(unfinished);
    // A leftover of an interrupted write would keep its own rights.
    let _ = std::fs::remove_file(&unfinished);
    let write = || {
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&unfinished, path)
    };
    write().map_err(in_file(path))
}

/// The error about a file.
pub(super) fn in_file(path: &Path) -> impl Fn(std::io::Error) -> AcmeError {
    let path = path.to_owned();
    move |source| AcmeError::File {
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use super::*;
    use crate::certificate::tests::make_pem;

    #[test]
    fn prod_020_the_certificate_is_kept_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let tls = folder.path().join("tls");
        let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
        create_folder(&tls).expect("made");
        assert!(read_certificate(&tls).is_none());

        let (chain, key) = make_pem(&["a.example"], Duration::from_secs(60));
        write_certificate(&tls, "https://ca.example/directory", &Issued { chain, key }).expect("written");

        assert_eq!((mode(&tls), mode(&tls.join(CERTIFICATE))), (0o700, 0o600));
        let kept = read_certificate(&tls).expect("it is kept");
        assert_eq!(kept.certificate.names(), ["a.example"]);
        assert_eq!(kept.directory.as_deref(), Some("https://ca.example/directory"));
        std::fs::write(tls.join(CERTIFICATE), "damaged").expect("written");
        assert!(read_certificate(&tls).is_none());
    }
}
