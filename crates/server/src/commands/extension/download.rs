//! Packages from registries, or from files that were downloaded by other means. Their SHA-256 is always compared.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use selvedge_database::extension_packages::RegistryFile;
use selvedge_http_client::{Call, HttpClient};
use selvedge_terminal::DIM;
use sha2::{Digest, Sha256};

/// The time limit of a download, which is enough for 55 MB over a slow line.
const DOWNLOAD_TIME: Duration = Duration::from_secs(600);

/// Files that the user has downloaded.
#[derive(Debug, Default)]
pub(super) struct GivenFiles(Vec<Vec<u8>>);

impl GivenFiles {
    /// Reads the files.
    ///
    /// # Errors
    /// When one cannot be read, or is none of the packages in question.
    pub(super) fn read(paths: &[PathBuf], packages: &[RegistryFile]) -> Result<Self> {
        let mut files = Vec::new();
        for path in paths {
            let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            let digest = digest_of(&bytes);
            if !packages.iter().any(|package| package.sha256 == digest) {
                let expected: Vec<String> = packages
                    .iter()
                    .map(|package| format!("\n  {}  {}", package.sha256, package.url))
                    .collect();
                bail!(
                    "the checksum of {} is {digest}, and nothing was installed; the packages are{}",
                    path.display(),
                    expected.concat()
                );
            }
            files.push(bytes);
        }
        Ok(Self(files))
    }

    /// Returns the bytes of a package: those of the given file that has its checksum, or else a download from its registry.
    ///
    /// # Errors
    /// When the package cannot be downloaded, or its checksum differs.
    pub(super) async fn fetch(&self, package: &RegistryFile) -> Result<Vec<u8>> {
        let given = self.0.iter().find(|bytes| digest_of(bytes) == package.sha256);
        if let Some(bytes) = given {
            return Ok(bytes.clone());
        }
        let bytes = download(package).await?;
        let digest = digest_of(&bytes);
        if digest != package.sha256 {
            bail!(
                "the checksum of the package is {digest} and should be {}: nothing was installed",
                package.sha256
            );
        }
        Ok(bytes)
    }
}

fn digest_of(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

async fn download(package: &RegistryFile) -> Result<Vec<u8>> {
    anstream::println!("{DIM}  {} ({} MB){DIM:#}", package.url, package.size / 1_000_000);
    let call = Call::get(package.url)
        .timeout(DOWNLOAD_TIME)
        .max_response_bytes(package.size);
    // The checksum decides whether the bytes are the right ones, so they may come from a mirror in the own network.
    let advice = "download it by other means, and name the file with --file";
    let response = HttpClient::new(true)
        .send(call)
        .await
        .context(advice)
        .context("the package cannot be downloaded")?;
    if response.status != 200 {
        bail!("the registry answers {}: {advice}", response.status);
    }
    Ok(response.body.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package_of(bytes: &[u8]) -> RegistryFile {
        RegistryFile {
            source: "a package",
            url: "http://127.0.0.1:1/never-asked.tgz",
            sha256: Box::leak(digest_of(bytes).into_boxed_str()),
            size: bytes.len(),
        }
    }

    #[tokio::test]
    async fn gw_018_given_files_are_told_apart_by_their_checksums() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["one", "two"].map(|name| folder.path().join(name));
        for path in &paths {
            std::fs::write(path, path.as_os_str().as_encoded_bytes()).unwrap();
        }
        let packages = [&paths[1], &paths[0]].map(|path| package_of(path.as_os_str().as_encoded_bytes()));

        let given = GivenFiles::read(&paths, &packages).unwrap();

        let first = given.fetch(&packages[0]).await.unwrap();
        assert_eq!(first, paths[1].as_os_str().as_encoded_bytes());
    }

    #[test]
    fn gw_018_a_package_with_another_checksum_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("changed");
        std::fs::write(&path, "changed").unwrap();

        let error = GivenFiles::read(&[path], &[package_of(b"original")]).unwrap_err();

        assert!(error.to_string().contains("checksum"), "{error}");
        assert!(error.to_string().contains("never-asked.tgz"), "{error}");
    }
}
