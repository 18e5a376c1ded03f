//! The certificate of a server by ACME: that of the last start at first, another one when it is time. A failure changes nothing but the time of
//! the next attempt: what is served stays.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwapOption;
use instant_acme::ChallengeType;
use rustls::ServerConfig;
use selvedge_http_client::HttpClient;

use super::account::{forget_account, open_account};
use super::attempts::Attempts;
use super::challenges::Challenges;
use super::http::AuthorityClient;
use super::order::{Issued, obtain_certificate};
use super::resolver::AcmeResolver;
use super::schedule::{advice_interval, renewal_time, tick_of};
use super::store::{create_folder, in_file, read_certificate, write_certificate};
use super::{AcmeError, AcmeSettings};
use crate::certificate::Certificate;
use crate::metrics;
use crate::server_config::{ACME_PROTOCOL, make_server_config};

/// How long one attempt may take: the authority may be slow, and asks for the answers from several places.
const LONGEST_ATTEMPT: Duration = Duration::from_secs(15 * 60);

/// How many orders an attempt may begin, where what is wrong is mended at once.
const MOST_ORDERS: u32 = 4;

/// The certificate, and what renews it.
pub struct AcmeCertificates {
    settings: AcmeSettings,
    current: Arc<ArcSwapOption<Certificate>>,
    /// Whether the current one is of another authority than the settings name, such as one for tests.
    is_of_other: AtomicBool,
    /// The current one, while it could not be written.
    unwritten: Mutex<Option<Issued>>,
    challenges: Challenges,
    http: Arc<HttpClient>,
}

/// What the authority has advised (RFC 9773).
#[derive(Default)]
struct Advice {
    window: Option<(SystemTime, SystemTime)>,
    /// When it was asked, and how long the answer holds.
    asked: Option<(SystemTime, Duration)>,
}

impl Advice {
    /// Whether to ask now. A question in the future says that the clock has been set back.
    fn is_due(&self, now: SystemTime) -> bool {
        self.asked
            .is_none_or(|(asked, holds)| now.duration_since(asked).map_or(true, |elapsed| elapsed >= holds))
    }
}

/// An attempt in progress. One that an orderly stop of the server cuts off is no failure.
struct Unbegun<'a> {
    attempts: &'a Attempts,
    folder: &'a Path,
}

impl Drop for Unbegun<'_> {
    fn drop(&mut self) {
        // A panic may come again at each start.
        if !std::thread::panicking()
            && let Err(error) = self.attempts.postponed(SystemTime::now()).write(self.folder)
        {
            tracing::warn!(%error, "the attempt that was cut off counts as a failed one");
        }
    }
}

impl AcmeCertificates {
    /// Takes the certificate of an earlier start from the folder, and asks nobody yet.
    ///
    /// # Errors
    /// When the folder cannot be made, or `ca_file` cannot be read.
    pub fn open(settings: AcmeSettings) -> Result<Self, AcmeError> {
        create_folder(&settings.folder)?;
        let http = match &settings.ca_file {
            Some(path) => HttpClient::trusting(path).map_err(in_file(path))?,
            None => HttpClient::new(true),
        };
        let kept = read_certificate(&settings.folder);
        let is_of_other = kept
            .as_ref()
            .is_some_and(|kept| kept.directory.as_ref() != Some(&settings.directory));
        let current = kept.map(|kept| Arc::new(kept.certificate));
        match &current {
            Some(current) => metrics::note_certificate(current.not_after(), current.lifetime()),
            None => metrics::note_missing(),
        }
        Ok(Self {
            settings,
            current: Arc::new(ArcSwapOption::new(current)),
            is_of_other: AtomicBool::new(is_of_other),
            unwritten: Mutex::default(),
            challenges: Challenges::default(),
            http: Arc::new(http),
        })
    }

    /// The answers that port 80 has to give.
    #[must_use]
    pub fn challenges(&self) -> Challenges {
        self.challenges.clone()
    }

    /// The settings of the listener, whose certificate changes with each renewal.
    ///
    /// # Errors
    /// When the machine has no random numbers.
    pub fn server_config(&self) -> Result<Arc<ServerConfig>, AcmeError> {
        let resolver = AcmeResolver {
            current: self.current.clone(),
            challenges: self.challenges.clone(),
        };
        let mut config = ServerConfig::clone(&*make_server_config(Arc::new(resolver))?);
        config.alpn_protocols = vec![ACME_PROTOCOL.to_vec()];
        Ok(Arc::new(config))
    }

    /// Obtains the first certificate and renews it, until the process ends.
    pub async fn keep_renewed(&self) {
        let settings = &self.settings;
        let mut attempts = Attempts::read(&settings.folder, &settings.domains, &settings.directory);
        attempts.begin();
        self.say_what_waits(&attempts);
        let mut advice = Advice::default();
        loop {
            let current = self.current.load_full();
            metrics::note_failures(attempts.failures);
            if let Some(current) = &current {
                self.ask_for_advice(current, &mut advice).await;
            }
            self.write_again();
            let now = SystemTime::now();
            if self.is_due(current.as_deref(), &advice, now) && attempts.allow(now) {
                self.attempt(&mut attempts).await;
                advice = Advice::default();
                continue;
            }
            tokio::time::sleep(tick_of(current.map(|current| current.lifetime()))).await;
        }
    }

    /// Says that the first attempt of this process is not made at once.
    fn say_what_waits(&self, attempts: &Attempts) {
        let now = SystemTime::now();
        if !attempts.allow(now) && attempts.failures > 0 {
            let pause = attempts.next_attempt().duration_since(now).unwrap_or_default();
            tracing::warn!(
                failures = attempts.failures,
                error = attempts.error.as_deref(),
                next_attempt_s = pause.as_secs(),
                file = %Attempts::path(&self.settings.folder).display(),
                "a certificate is not asked for yet, as the last attempts have failed; without the file it is asked for at the next start"
            );
        }
    }

    /// Whether a certificate is needed now: there is none, it is of another authority, it lacks a domain, or it is time.
    fn is_due(&self, current: Option<&Certificate>, advice: &Advice, now: SystemTime) -> bool {
        let Some(current) = current else {
            return true;
        };
        let mut domains = self.settings.domains.iter();
        self.is_of_other.load(Ordering::Relaxed)
            || !domains.all(|domain| current.covers(domain))
            || now >= renewal_time(current, advice.window)
    }

    /// Makes one attempt, and notes what became of it. It is noted before anybody is asked: one that is cut off counts, and where nothing can be
    /// written a certificate would be spent and lost.
    async fn attempt(&self, attempts: &mut Attempts) {
        let folder = &self.settings.folder;
        let before = attempts.clone();
        let current = self.current.load_full();
        let current = current.as_deref();
        attempts.fail(SystemTime::now(), current, None, &AcmeError::Unfinished);
        if let Err(error) = attempts.write(folder) {
            tracing::error!(%error, "nobody is asked for a certificate that could not be kept");
            *attempts = before;
            attempts.fail(SystemTime::now(), current, None, &error);
            return;
        }
        let client = AuthorityClient::new(self.http.clone());
        let unbegun = Unbegun {
            attempts: &before,
            folder,
        };
        let obtained = tokio::time::timeout(LONGEST_ATTEMPT, self.renew(&client, before.failures)).await;
        std::mem::forget(unbegun);
        self.challenges.clear();
        match obtained.unwrap_or(Err(AcmeError::Slow(LONGEST_ATTEMPT.as_secs() / 60))) {
            Ok(certificate) => self.take(certificate, attempts, before),
            Err(error) => {
                let now = SystemTime::now();
                *attempts = before;
                attempts.fail(now, current, client.hold(), &error);
                let pause = attempts.next_attempt().duration_since(now).unwrap_or_default();
                tracing::warn!(
                    error = attempts.error.as_deref(),
                    directory = self.settings.directory,
                    failures = attempts.failures,
                    next_attempt_s = pause.as_secs(),
                    has_certificate = current.is_some(),
                    "no new certificate was obtained; one that is there stays"
                );
            }
        }
        if let Err(error) = attempts.write(folder) {
            tracing::warn!(%error, "what became of the attempt is not kept");
        }
    }

    /// Serves a new certificate. One that would be replaced at once is a failure as well: it was spent for nothing.
    fn take(&self, certificate: Certificate, attempts: &mut Attempts, before: Attempts) {
        tracing::info!(domains = ?certificate.names(), "a new certificate is served");
        metrics::note_certificate(certificate.not_after(), certificate.lifetime());
        self.is_of_other.store(false, Ordering::Relaxed);
        let now = SystemTime::now();
        if self.is_due(Some(&certificate), &Advice::default(), now) {
            tracing::error!(error = %AcmeError::StillDue, "another one is asked for, after ever longer pauses");
            *attempts = before;
            attempts.fail(now, Some(&certificate), None, &AcmeError::StillDue);
        } else {
            attempts.succeed(now, certificate.lifetime());
        }
        self.current.store(Some(Arc::new(certificate)));
    }

    /// Writes a certificate that could not be written when it was issued. It is served meanwhile.
    fn write_again(&self) {
        let mut unwritten = self.unwritten.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(issued) = unwritten.as_ref() else {
            return;
        };
        match write_certificate(&self.settings.folder, &self.settings.directory, issued) {
            Ok(()) => *unwritten = None,
            Err(error) => tracing::debug!(%error, "the certificate still cannot be written"),
        }
    }

    /// Obtains a certificate and keeps it. The two kinds of challenges take turns, as either may be what fails.
    async fn renew(&self, client: &AuthorityClient, failures: u32) -> Result<Certificate, AcmeError> {
        let preferred = match failures % 2 {
            0 => ChallengeType::Http01,
            _ => ChallengeType::TlsAlpn01,
        };
        let mut left = MOST_ORDERS;
        let issued = loop {
            left -= 1;
            match self.order(client, &preferred).await {
                // The authority no longer knows the account: one for tests forgets all of them when it is restarted.
                Err(error) if left > 0 && error.problem_kind() == Some("accountDoesNotExist") => {
                    forget_account(&self.settings.folder)?;
                }
                // The nonce has expired, as on a slow machine; the next answer brings another one.
                Err(error) if left > 0 && error.problem_kind() == Some("badNonce") => {}
                issued => break issued?,
            }
        };
        let certificate = Certificate::parse(issued.chain.as_bytes(), issued.key.as_bytes())?;
        let written = write_certificate(&self.settings.folder, &self.settings.directory, &issued);
        // This one replaces an older one that still waited to be written.
        *self.unwritten.lock().unwrap_or_else(PoisonError::into_inner) = written.is_err().then_some(issued);
        if let Err(error) = written {
            tracing::error!(%error, "the new certificate is served and could not be kept; that is tried again");
        }
        Ok(certificate)
    }

    async fn order(&self, client: &AuthorityClient, preferred: &ChallengeType) -> Result<Issued, AcmeError> {
        let account = open_account(&self.settings, client).await?;
        let current = self.current.load_full();
        let replaced = current.as_ref().and_then(|current| current.identifier());
        obtain_certificate(
            &account,
            &self.settings.domains,
            replaced,
            &self.challenges,
            preferred,
        )
        .await
    }

    /// Asks the authority when to renew, at most every few hours. Without an answer the last one holds.
    async fn ask_for_advice(&self, current: &Certificate, advice: &mut Advice) {
        let now = SystemTime::now();
        let Some(identifier) = current.identifier().filter(|_| advice.is_due(now)) else {
            return;
        };
        let client = AuthorityClient::new(self.http.clone());
        let asked = async {
            let account = open_account(&self.settings, &client).await?;
            Ok::<_, AcmeError>(account.renewal_info(identifier).await?)
        };
        let told = match asked.await {
            Ok((info, told)) => {
                let window = info.suggested_window;
                advice.window = Some((window.start.into(), window.end.into()));
                Some(told)
            }
            Err(error) => {
                tracing::debug!(%error, "the authority gives no advice on renewal");
                None
            }
        };
        advice.asked = Some((now, advice_interval(current.lifetime(), told)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::FIRST_PAUSE;
    use super::*;

    /// An authority that accepts connections and answers nothing.
    async fn open_silent() -> (tokio::net::TcpListener, AcmeSettings, tempfile::TempDir) {
        let silent = tokio::net::TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("a port");
        let port = silent.local_addr().expect("an address").port();
        let folder = tempfile::tempdir().expect("a folder");
        let settings = AcmeSettings {
            domains: vec!["a.example".to_owned()],
            email: None,
            directory: format!("https://127.0.0.1:{port}/directory"),
            ca_file: None,
            external_account: None,
            folder: folder.path().to_owned(),
        };
        (silent, settings, folder)
    }

    #[tokio::test]
    async fn prod_021_an_attempt_that_an_orderly_stop_cuts_off_is_none() {
        let (silent, settings, folder) = open_silent().await;
        let certificates = AcmeCertificates::open(settings).expect("opened");

        tokio::select! {
            () = certificates.keep_renewed() => panic!("it never ends"),
            asked = silent.accept() => drop(asked.expect("a connection")),
        }

        let noted = Attempts::read_any(folder.path());
        assert_eq!((noted.failures, noted.error.as_deref()), (0, None));
        let now = SystemTime::now();
        assert!(!noted.allow(now) && noted.allow(now + FIRST_PAUSE));
    }

    #[tokio::test]
    async fn prod_021_an_attempt_in_progress_is_noted_for_the_case_that_the_process_is_killed() {
        let (silent, settings, folder) = open_silent().await;
        let certificates = AcmeCertificates::open(settings).expect("opened");

        let noted = tokio::select! {
            () = certificates.keep_renewed() => panic!("it never ends"),
            // Read here, because an order that is given up, as in an orderly stop, is taken back.
            noted = async {
                silent.accept().await.expect("a connection");
                Attempts::read_any(folder.path())
            } => noted,
        };

        assert_eq!(noted.failures, 1);
    }
}
