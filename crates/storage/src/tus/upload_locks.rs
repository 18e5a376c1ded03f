//! Allows one request at a time to write to an upload. A second request makes the first stop and waits until its bytes are
//! recorded: usually both come from one client, whose first connection broke unnoticed.
//!
//! The lock covers one process and only saves work. Across processes the `writer` column guarantees exclusion: a request
//! whose id is no longer in it cannot record anything.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::backend::Version;
use crate::error::StorageError;

/// How long a request waits for the holder of the lock to stop.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// The uploads of this process that a request is writing to.
#[derive(Debug, Default, Clone)]
pub(crate) struct UploadLocks {
    holders: Arc<Mutex<HashMap<Version, Holder>>>,
}

#[derive(Debug)]
struct Holder {
    stop: CancellationToken,
    released: CancellationToken,
}

/// The exclusive right, within this process, to write to an upload; released when dropped.
#[derive(Debug)]
pub(crate) struct UploadLock {
    locks: UploadLocks,
    version: Version,
    stop: CancellationToken,
}

impl UploadLocks {
    /// Asks the current holder to stop, and waits for the lock.
    ///
    /// # Errors
    /// `LockTimeout` when the holder does not stop in time.
    pub(crate) async fn acquire(&self, version: Version) -> Result<UploadLock, StorageError> {
        let acquired = tokio::time::timeout(ACQUIRE_TIMEOUT, async {
            loop {
                let released = match self.acquire_or_request_stop(version) {
                    Ok(hold) => return hold,
                    Err(released) => released,
                };
                released.cancelled().await;
            }
        });
        acquired.await.map_err(|_| StorageError::LockTimeout)
    }

    /// Takes the lock if it is free; does not ask a holder to stop.
    pub(crate) fn acquire_if_free(&self, version: Version) -> Option<UploadLock> {
        // A panic cannot leave this map half changed, so a poisoned mutex is used like any other.
        let mut holders = self.holders.lock().unwrap_or_else(PoisonError::into_inner);
        (!holders.contains_key(&version)).then(|| self.insert(&mut holders, version))
    }

    /// Takes the lock, or requests its holder to stop and returns the token that is cancelled when it is released.
    fn acquire_or_request_stop(&self, version: Version) -> Result<UploadLock, CancellationToken> {
        let mut holders = self.holders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(holder) = holders.get(&version) {
            holder.stop.cancel();
            return Err(holder.released.clone());
        }
        Ok(self.insert(&mut holders, version))
    }

    fn insert(&self, holders: &mut HashMap<Version, Holder>, version: Version) -> UploadLock {
        let stop = CancellationToken::new();
        let holder = Holder {
            stop: stop.clone(),
            released: CancellationToken::new(),
        };
        holders.insert(version, holder);
        UploadLock {
            locks: self.clone(),
            version,
            stop,
        }
    }
}

impl UploadLock {
    /// Cancelled when another request wants the lock.
    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.stop
    }
}

impl Drop for UploadLock {
    fn drop(&mut self) {
        let mut holders = self.locks.holders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(holder) = holders.remove(&self.version) {
            holder.released.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn store_089_a_second_request_stops_the_first_and_then_gets_the_lock() {
        let locks = UploadLocks::default();
        let version = Version::fresh();
        let first = locks.acquire(version).await.expect("free");
        assert!(locks.acquire_if_free(version).is_none());
        let waiting = {
            let locks = locks.clone();
            actix_web::rt::spawn(async move { locks.acquire(version).await })
        };

        first.stop().cancelled().await;
        assert!(!waiting.is_finished());
        drop(first);

        let second = waiting.await.expect("the task lives").expect("it is free");
        assert!(!second.stop().is_cancelled());
        drop(second);
        assert!(locks.acquire_if_free(version).is_some());
    }

    #[actix_web::test]
    async fn store_089_a_holder_that_does_not_stop_causes_a_lock_timeout() {
        tokio::time::pause();
        let locks = UploadLocks::default();
        let version = Version::fresh();
        let _stubborn = locks.acquire(version).await.expect("free");

        assert!(matches!(
            locks.acquire(version).await,
            Err(StorageError::LockTimeout)
        ));
    }
}
