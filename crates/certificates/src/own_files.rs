//! A certificate from two files, which somebody else renews: the files are read again when they change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::certificate::{Certificate, CertificateError};
use crate::metrics;
use crate::server_config::make_server_config;

/// How often the files are looked at.
const POLL: Duration = Duration::from_secs(10);

/// Reads a file, for whoever knows how large files of settings may be.
pub type ReadFile = fn(&Path) -> std::io::Result<Vec<u8>>;

/// Why the files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OwnFilesError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// They hold no certificate that can be served.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// The certificate of two PEM files.
#[derive(Debug)]
pub struct OwnCertificate {
    certificate: PathBuf,
    key: PathBuf,
    read: ReadFile,
    served: Served,
}

impl OwnCertificate {
    /// Reads the files.
    ///
    /// # Errors
    /// [`OwnFilesError`].
    pub fn open(certificate: &Path, key: &Path, read: ReadFile) -> Result<Self, OwnFilesError> {
        let current = read_files(certificate, key, read)?;
        metrics::note_certificate(current.not_after(), current.lifetime());
        Ok(Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            read,
            served: Served(Arc::new(ArcSwap::from_pointee(current))),
        })
    }

    /// The settings of the listeners, whose certificate changes with the files.
    ///
    /// # Errors
    /// When the machine has no random numbers.
    pub fn server_config(&self) -> Result<Arc<ServerConfig>, rustls::Error> {
        make_server_config(Arc::new(self.served.clone()))
    }

    /// Reads the files again whenever they change, until the process ends. Those that cannot be used change nothing and are reported: two files
    /// are not replaced in one moment.
    pub async fn follow_files(&self) {
        let mut seen = self.describe();
        loop {
            tokio::time::sleep(POLL).await;
            let now = self.describe();
            if now == seen {
                continue;
            }
            match self.reload() {
                Ok(()) => tracing::info!("the certificate of [api.tls] has changed and is served"),
                Err(error) => {
                    tracing::error!(%error, "the files of [api.tls] have changed and cannot be used; the certificate stays")
                }
            }
            seen = now;
        }
    }

    fn reload(&self) -> Result<(), OwnFilesError> {
        let new = read_files(&self.certificate, &self.key, self.read)?;
        metrics::note_certificate(new.not_after(), new.lifetime());
        self.served.0.store(Arc::new(new));
        Ok(())
    }

    /// What changes with the files, also where they are links to a folder of the day.
    fn describe(&self) -> [Option<(SystemTime, u64)>; 2] {
        [&self.certificate, &self.key].map(|path| {
            let meta = path.metadata().ok()?;
            Some((meta.modified().ok()?, meta.len()))
        })
    }
}

fn read_files(certificate: &Path, key: &Path, read: ReadFile) -> Result<Certificate, OwnFilesError> {
    let read = |path: &Path| {
        read(path).map_err(|source| OwnFilesError::File {
            path: path.to_owned(),
            source,
        })
    };
    Ok(Certificate::parse(&read(certificate)?, &read(key)?)?)
}

/// The certificate that is served to everybody, whatever name they ask for, as its owner has chosen it.
#[derive(Debug, Clone)]
struct Served(Arc<ArcSwap<Certificate>>);

impl ResolvesServerCert for Served {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load().key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::tests::make_pem;

    #[tokio::test(start_paused = true)]
    async fn prod_021_own_files_are_read_again_and_stay_as_they_were_while_they_do_not_fit() {
        let folder = tempfile::tempdir().expect("a folder");
        let [chain_file, key_file] = ["chain.pem", "key.pem"].map(|name| folder.path().join(name));
        let read: ReadFile = |path| std::fs::read(path);
        let write = |(chain, key): &(String, String), both: bool| {
            std::fs::write(&chain_file, chain).expect("written");
            if both {
                std::fs::write(&key_file, key).expect("written");
            }
        };
        let year = Duration::from_secs(365 * 24 * 3600);
        write(&make_pem(&["a.example"], year), true);
        let own = OwnCertificate::open(&chain_file, &key_file, read).expect("they fit");
        let served = own.served.clone();
        let following = tokio::spawn(async move { own.follow_files().await });
        tokio::time::sleep(POLL / 2).await;

        let next = make_pem(&["longer.b.example"], year);
        write(&next, false);
        tokio::time::sleep(POLL).await;
        assert_eq!(served.0.load().names(), ["a.example"]);
        write(&next, true);
        // Where the clock of the file system is coarse, its time may be the same; the length of a key is.
        let moment = SystemTime::now() + Duration::from_secs(2);
        let file = std::fs::File::options()
            .write(true)
            .open(&key_file)
            .expect("opened");
        file.set_modified(moment).expect("set");
        tokio::time::sleep(POLL).await;

        assert_eq!(served.0.load().names(), ["longer.b.example"]);
        following.abort();
    }
}
