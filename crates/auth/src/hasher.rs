//! Password hashing on threads of its own: an event loop that hashes answers nobody for 40 ms.
//!
//! The queue is bounded. When it is full, requests are told to come back, instead of waiting longer and longer.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::oneshot;

use crate::config::PasswordConfig;
use crate::error::{AuthError, Fault, UNEXPECTED};
use crate::rules::password_hash::PasswordHash;

mod pool;

use pool::Pool;

/// Hashes and verifies passwords. Cheap to clone; the threads end with the last clone.
#[derive(Debug, Clone)]
pub(crate) struct Hasher {
    pool: Pool,
    cost: u32,
    /// A hash of a password that nobody knows, so that unknown users cost as much as known ones.
    dummy: Arc<OnceLock<String>>,
}

impl Hasher {
    /// Starts the threads.
    pub(crate) fn new(config: &PasswordConfig) -> Self {
        let hasher = Self {
            pool: Pool::start(config.hash_threads, config.hash_queue),
            cost: config.bcrypt_cost,
            dummy: Arc::default(),
        };
        hasher.prepare_dummy();
        hasher
    }

    /// Makes the dummy hash before the first unknown user asks for it.
    fn prepare_dummy(&self) {
        let (dummy, cost) = (Arc::clone(&self.dummy), self.cost);
        // A full queue is no reason to fail: the first use makes the hash then.
        let _ = self.pool.put(Arc::new(move || {
            dummy_hash(&dummy, cost);
        }));
    }

    /// Hashes a new password.
    pub(crate) async fn hash(&self, password: &str) -> Result<String, AuthError> {
        let (password, cost) = (password.to_owned(), self.cost);
        self.run(move || bcrypt::hash(&password, cost))
            .await?
            .map_err(|error| AuthError::internal(UNEXPECTED, error))
    }

    /// Whether `password` belongs to `hash`; a hash that cannot be read belongs to none.
    pub(crate) async fn verify(&self, password: &str, hash: &str) -> Result<bool, AuthError> {
        let (password, hash) = (password.to_owned(), hash.to_owned());
        self.run(move || PasswordHash::parse(&hash).is_some_and(|hash| hash.verify(&password)))
            .await
    }

    /// Costs as much as [`Self::verify`], and is never true: for users that do not exist.
    pub(crate) async fn verify_nobody(&self, password: &str) -> Result<bool, AuthError> {
        let (password, dummy, cost) = (password.to_owned(), Arc::clone(&self.dummy), self.cost);
        self.run(move || {
            let _ = bcrypt::verify(&password, dummy_hash(&dummy, cost));
        })
        .await?;
        Ok(false)
    }

    /// Runs `work` on a thread of the pool: twice at most, and the first result counts.
    async fn run<T: Send + 'static>(
        &self,
        work: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<T, AuthError> {
        let (answer, result) = oneshot::channel();
        let answer = Mutex::new(Some(answer));
        let job = move || {
            let slot = || answer.lock().unwrap_or_else(PoisonError::into_inner);
            // Who has hung up, or has an answer, needs none.
            if slot().as_ref().is_none_or(oneshot::Sender::is_closed) {
                return;
            }
            let value = work();
            let sender = slot().take();
            if let Some(sender) = sender {
                let _ = sender.send(value);
            }
        };
        self.pool
            .put(Arc::new(job))
            .map_err(|_| AuthError::RequestRateLimit)?;
        result
            .await
            .map_err(|_| AuthError::internal(UNEXPECTED, Fault::Other("hashing thread ended")))
    }
}

/// Two threads may make it at once: neither waits for the other, which may stand back for long.
fn dummy_hash(dummy: &OnceLock<String>, cost: u32) -> &str {
    if dummy.get().is_none() {
        let _ = dummy.set(bcrypt::hash(uuid::Uuid::new_v4().to_string(), cost).unwrap_or_default());
    }
    dummy.get().map_or("", String::as_str)
}

/// A password that nobody will ever type.
pub(crate) fn random_password() -> String {
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
    async fn hashes_verify_and_nobody_never_does() {
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
        assert!(!hasher.verify_nobody("secret").await.expect("verifying works"));
    }

    #[tokio::test]
    async fn a_full_queue_refuses_instead_of_waiting() {
        let hasher = Hasher::new(&PasswordConfig {
            bcrypt_cost: 10,
            ..config(1, 3)
        });

        let answers = futures_util::future::join_all((0..8).map(|_| hasher.hash("secret"))).await;

        assert!(
            answers
                .iter()
                .any(|answer| matches!(answer, Err(AuthError::RequestRateLimit)))
        );
        assert!(hasher.hash("secret").await.is_ok());
    }
}
