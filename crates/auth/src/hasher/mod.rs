//! Password hashing on threads of its own: a hash takes about 40 ms, during which an event loop could serve
//! no request.
//!
//! The queue is bounded. When it is full, requests fail with 429 at once instead of waiting ever longer.

use tokio::sync::oneshot;
use uuid::Uuid;

use crate::config::PasswordConfig;
use crate::crypto::password_hash::PasswordHash;
use crate::crypto::recovery_code;
use crate::error::{AuthError, Fault, UNEXPECTED};

mod bcrypt_run;
mod pool;

use bcrypt_run::{BcryptRun, Salt};
use pool::{HashJob, Pool};

/// Hashes and verifies passwords. Cheap to clone; the threads end with the last clone.
#[derive(Debug, Clone)]
pub(crate) struct Hasher {
    pool: Pool,
    cost: u32,
}

impl Hasher {
    /// Starts the threads.
    pub(crate) fn new(config: &PasswordConfig) -> Self {
        Self {
            pool: Pool::start(config.hash_threads, config.hash_queue),
            cost: config.bcrypt_cost,
        }
    }

    /// Hashes a new password.
    pub(crate) async fn hash(&self, password: &str) -> Result<String, AuthError> {
        let run = self.begin(password)?;
        self.run_job(run, BcryptRun::finish).await
    }

    /// Whether `password` belongs to `hash`; a hash that cannot be read belongs to none.
    pub(crate) async fn verify(&self, password: &str, hash: &str) -> Result<bool, AuthError> {
        match PasswordHash::parse(hash) {
            None => Ok(false),
            Some(PasswordHash::Bcrypt(hash)) => match BcryptRun::begin_with_salt_of(&hash, password) {
                Err(_) => Ok(false),
                Ok(run) => self.run_job(run, move |run| run.finish_equals(&hash)).await,
            },
            Some(PasswordHash::Imported(hash)) => {
                let password = password.to_owned();
                self.run_job((), move |()| hash.verify(&password)).await
            }
        }
    }

    /// Hashes new recovery codes.
    pub(crate) async fn hash_recovery_codes(&self, codes: Vec<String>) -> Result<Vec<String>, AuthError> {
        let hash_all = move |()| {
            let hashes = codes.iter().map(|code| recovery_code::hash(code));
            hashes.collect::<Result<Vec<String>, argon2::Error>>()
        };
        let hashes = self.run_job((), hash_all).await?;
        hashes.map_err(|_| AuthError::internal(UNEXPECTED, Fault::Other("a recovery code was not hashed")))
    }

    /// The id of the hash that belongs to a recovery code, if there is one.
    pub(crate) async fn find_recovery_code(
        &self,
        code: String,
        hashes: Vec<(Uuid, String)>,
    ) -> Result<Option<Uuid>, AuthError> {
        self.run_job((), move |()| recovery_code::find_match(&code, &hashes))
            .await
    }

    /// Takes as long as [`Self::verify`]: called for users that do not exist, so that the response time does
    /// not reveal it.
    pub(crate) async fn verify_dummy(&self, password: &str) -> Result<bool, AuthError> {
        let run = self.begin(password)?;
        self.run_job(run, |run| run.finish_equals("")).await
    }

    fn begin(&self, password: &str) -> Result<BcryptRun, AuthError> {
        BcryptRun::begin(password, rand::random::<Salt>(), self.cost)
            .map_err(|error| AuthError::internal(UNEXPECTED, error))
    }

    /// Runs a computation on a thread of the pool and returns its result.
    async fn run_job<S, T>(
        &self,
        steps: S,
        last: impl FnOnce(S) -> T + Send + 'static,
    ) -> Result<T, AuthError>
    where
        S: Steps + 'static,
        T: Send + 'static,
    {
        let (sender, result) = oneshot::channel();
        let unfinished = Some((steps, last, sender));
        self.pool
            .queue_job(Box::new(SteppedJob { unfinished }))
            .map_err(|_| AuthError::RequestRateLimit)?;
        result.await.map_err(|_| {
            AuthError::internal(
                UNEXPECTED,
                Fault::Other("the hashing thread ended without a result"),
            )
        })
    }
}

/// The interruptible part of a computation.
trait Steps: Send {
    /// Computes for about 50 µs; false when only the final step is left.
    fn step(&mut self) -> bool;
}

impl Steps for BcryptRun {
    fn step(&mut self) -> bool {
        Self::step(self)
    }
}

/// For computations that cannot be interrupted: they consist of the final step.
impl Steps for () {
    fn step(&mut self) -> bool {
        false
    }
}

/// A computation in the pool: its steps, its final step, and the channel for the result.
struct SteppedJob<S, F, T> {
    unfinished: Option<(S, F, oneshot::Sender<T>)>,
}

impl<S, F, T> HashJob for SteppedJob<S, F, T>
where
    S: Steps,
    F: FnOnce(S) -> T + Send,
    T: Send,
{
    fn step(&mut self) -> bool {
        // The receiver is gone when the client has disconnected; the result is dropped.
        let Some((mut steps, last, sender)) =
            self.unfinished.take().filter(|(.., sender)| !sender.is_closed())
        else {
            return false;
        };
        if steps.step() {
            self.unfinished = Some((steps, last, sender));
            return true;
        }
        let _ = sender.send(last(steps));
        false
    }
}

/// Makes a random password for users who have none of their own yet.
pub(crate) fn generate_password() -> String {
    use rand::distr::{Alphanumeric, SampleString};
    Alphanumeric.sample_string(&mut rand::rng(), 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(hash_threads: usize, hash_queue: usize) -> PasswordConfig {
        PasswordConfig {
            bcrypt_cost: 4,
            hash_threads,
            hash_queue,
            ..PasswordConfig::default()
        }
    }

    #[tokio::test]
    async fn hashes_verify_their_password_only_and_the_dummy_verifies_none() {
        let hasher = Hasher::new(&config(2, 16));

        let hash = hasher.hash("secret").await.expect("hashing works");

        assert!(hash.starts_with("$2b$04$"));
        assert!(hasher.verify("secret", &hash).await.expect("verifying works"));
        assert!(!hasher.verify("Secret", &hash).await.expect("verifying works"));
        assert!(
            !hasher
                .verify("secret", "not a hash")
                .await
                .expect("verifying works")
        );
        assert!(!hasher.verify_dummy("secret").await.expect("verifying works"));
        // A hash that another implementation of bcrypt has written.
        let imported = "$2y$10$92IXUNpkjO0rOQ5byMi.Ye4oKoEa3Ro9llC/.og/at2.uheWG/igi";
        assert!(
            hasher
                .verify("password", imported)
                .await
                .expect("verifying works")
        );
    }

    #[tokio::test]
    async fn a_full_queue_refuses_instead_of_waiting() {
        let hasher = Hasher::new(&PasswordConfig {
            bcrypt_cost: 10,
            ..config(1, 3)
        });

        let results = futures_util::future::join_all((0..8).map(|_| hasher.hash("secret"))).await;

        assert!(
            results
                .iter()
                .any(|sender| matches!(sender, Err(AuthError::RequestRateLimit)))
        );
        assert!(hasher.hash("secret").await.is_ok());
    }
}
