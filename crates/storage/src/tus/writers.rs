//! One request at a time works on an upload. A second one asks the first to stop, and waits until it has put its bytes
//! away: the usual second one is the same client after a broken connection that we have not noticed yet.
//!
//! This is the courtesy within one process. What makes it safe across processes is the `writer` column: who lost the
//! upload can record nothing any more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::error::StorageError;
use crate::version::Version;

/// How long a request waits for the one before it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Who works on which upload, in this process.
#[derive(Debug, Default, Clone)]
pub(crate) struct Writers {
    holders: Arc<Mutex<HashMap<Version, Holder>>>,
}

#[derive(Debug)]
struct Holder {
    stop: CancellationToken,
    released: CancellationToken,
}

/// The right to work on an upload; given back when dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    writers: Writers,
    version: Version,
    stop: CancellationToken,
}

impl Writers {
    /// Waits for the upload, asking its holder to stop.
    ///
    /// # Errors
    /// `LockTimeout` when the holder does not stop in time.
    pub(crate) async fn acquire(&self, version: Version) -> Result<Hold, StorageError> {
        let acquired = tokio::time::timeout(PATIENCE, async {
            loop {
                let released = match self.try_acquire(version) {
                    Ok(hold) => return hold,
                    Err(released) => released,
                };
                released.cancelled().await;
            }
        });
        acquired.await.map_err(|_| StorageError::LockTimeout)
    }

    /// Takes the upload if nobody works on it; disturbs nobody.
    pub(crate) fn acquire_idle(&self, version: Version) -> Option<Hold> {
        let mut holders = self.holders.lock().unwrap_or_else(PoisonError::into_inner);
        (!holders.contains_key(&version)).then(|| self.insert(&mut holders, version))
    }

    fn try_acquire(&self, version: Version) -> Result<Hold, CancellationToken> {
        let mut holders = self.holders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(holder) = holders.get(&version) {
            holder.stop.cancel();
            return Err(holder.released.clone());
        }
        Ok(self.insert(&mut holders, version))
    }

    fn insert(&self, holders: &mut HashMap<Version, Holder>, version: Version) -> Hold {
        let stop = CancellationToken::new();
        let holder = Holder {
            stop: stop.clone(),
            released: CancellationToken::new(),
        };
        holders.insert(version, holder);
        Hold {
            writers: self.clone(),
            version,
            stop,
        }
    }
}

impl Hold {
    /// Fires when another request wants the upload, or the client is gone.
    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.stop
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut holders = self
            .writers
            .holders
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(holder) = holders.remove(&self.version) {
            holder.released.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn store_089_the_second_asks_the_first_to_stop_and_follows_it() {
        let writers = Writers::default();
        let version = Version::fresh();
        let first = writers.acquire(version).await.expect("free");
        assert!(writers.acquire_idle(version).is_none());
        let waiting = {
            let writers = writers.clone();
            actix_web::rt::spawn(async move { writers.acquire(version).await })
        };

        first.stop().cancelled().await;
        assert!(!waiting.is_finished());
        drop(first);

        let second = waiting.await.expect("the task lives").expect("it is free");
        assert!(!second.stop().is_cancelled());
        drop(second);
        assert!(writers.acquire_idle(version).is_some());
    }

    #[actix_web::test]
    async fn store_089_a_holder_that_does_not_stop_is_a_lock_timeout() {
        tokio::time::pause();
        let writers = Writers::default();
        let version = Version::fresh();
        let _stubborn = writers.acquire(version).await.expect("free");

        assert!(matches!(
            writers.acquire(version).await,
            Err(StorageError::LockTimeout)
        ));
    }
}
