//! Password hashing on threads of its own: an event loop that hashes answers nobody for 40 ms.
//!
//! The queue is bounded. When it is full, requests are told to come back, instead of waiting longer and longer.

use tokio::sync::oneshot;

use crate::config::PasswordConfig;
use crate::error::{AuthError, Fault, UNEXPECTED};
use crate::rules::password_hash::PasswordHash;

mod bcrypt_run;
mod pool;

use bcrypt_run::{BcryptRun, Salt};
use pool::{Pool, Work};

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
        self.run(run, BcryptRun::finish).await
    }

    /// Whether `password` belongs to `hash`; a hash that cannot be read belongs to none.
    pub(crate) async fn verify(&self, password: &str, hash: &str) -> Result<bool, AuthError> {
        match PasswordHash::parse(hash) {
            None => Ok(false),
            Some(PasswordHash::Bcrypt(hash)) => match BcryptRun::like(&hash, password) {
                Err(_) => Ok(false),
                Ok(run) => self.run(run, move |run| run.finish_equals(&hash)).await,
            },
            Some(PasswordHash::Imported(hash)) => {
                let password = password.to_owned();
                self.run((), move |()| hash.verify(&password)).await
            }
        }
    }

    /// Costs as much as [`Self::verify`], and is never true: for users that do not exist.
    pub(crate) async fn verify_nobody(&self, password: &str) -> Result<bool, AuthError> {
        let run = self.begin(password)?;
        self.run(run, |run| run.finish_equals("")).await
    }

    fn begin(&self, password: &str) -> Result<BcryptRun, AuthError> {
        BcryptRun::begin(password, rand::random::<Salt>(), self.cost)
            .map_err(|error| AuthError::internal(UNEXPECTED, error))
    }

    /// Has a computation done on a thread of the pool: its steps, then the last one, which yields the answer.
    async fn run<S, T>(&self, steps: S, last: impl FnOnce(S) -> T + Send + 'static) -> Result<T, AuthError>
    where
        S: Steps + 'static,
        T: Send + 'static,
    {
        let (answer, result) = oneshot::channel();
        let rest = Some((steps, last, answer));
        self.pool
            .put(Box::new(Paced { rest }))
            .map_err(|_| AuthError::RequestRateLimit)?;
        result
            .await
            .map_err(|_| AuthError::internal(UNEXPECTED, Fault::Other("hashing thread ended")))
    }
}

/// What comes before the last step of a computation.
trait Steps: Send {
    /// Takes a step; false when only the last one is left.
    fn step(&mut self) -> bool;
}

impl Steps for BcryptRun {
    fn step(&mut self) -> bool {
        Self::step(self)
    }
}

/// Nothing: the computation cannot be cut.
impl Steps for () {
    fn step(&mut self) -> bool {
        false
    }
}

/// A computation for the pool, until it is done: steps, the last step, and who waits for what that yields.
struct Paced<S, F, T> {
    rest: Option<(S, F, oneshot::Sender<T>)>,
}

impl<S, F, T> Work for Paced<S, F, T>
where
    S: Steps,
    F: FnOnce(S) -> T + Send,
    T: Send,
{
    fn step(&mut self) -> bool {
        // Who has hung up needs no answer.
        let Some((mut steps, last, answer)) = self.rest.take().filter(|(.., answer)| !answer.is_closed())
        else {
            return false;
        };
        if steps.step() {
            self.rest = Some((steps, last, answer));
            return true;
        }
        let _ = answer.send(last(steps));
        false
    }
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
        // Written by another implementation.
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

        let answers = futures_util::future::join_all((0..8).map(|_| hasher.hash("secret"))).await;

        assert!(
            answers
                .iter()
                .any(|answer| matches!(answer, Err(AuthError::RequestRateLimit)))
        );
        assert!(hasher.hash("secret").await.is_ok());
    }
}
