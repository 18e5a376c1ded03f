//! The state of a worker that requests and its supervisor share.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use uuid::Uuid;

use super::end::{End, EndReason};

/// A worker, from before its process starts until it has ended.
#[derive(Debug)]
pub(crate) struct Worker {
    /// Different for every worker of this server; connections are kept by it.
    pub(crate) id: u64,
    /// `SB_EXECUTION_ID`.
    pub(crate) execution_id: Uuid,
    /// The function's name.
    pub(crate) slug: String,
    /// The folder of the worker's socket and temporary files.
    pub(crate) folder: PathBuf,
    state: watch::Sender<State>,
    /// Requests whose responses have not been sent completely, and open WebSockets.
    in_flight: AtomicUsize,
    /// Number of responses whose head was received.
    responses: AtomicU64,
    /// 0 while the worker gets new requests, else the reason why not: its index in [`REASONS`] plus one.
    retired: AtomicU8,
    /// Whether it may serve one request only.
    is_single_use: bool,
    is_taken: AtomicBool,
    /// Whether it ends although it serves requests, for room for others.
    is_given_up: AtomicBool,
    /// Memory that it used when it was looked at last.
    memory_bytes: AtomicU64,
    created: Instant,
    /// Milliseconds between `created` and the end of the last request.
    last_used_ms: AtomicU64,
    /// Notified when the worker retires and when its last request ends; the supervisor then decides whether it ends.
    pub(crate) wake: Notify,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Booting,
    Ready,
    Ended(End),
}

/// The reasons for retiring. [`Worker::retired`] holds the index plus one.
const REASONS: [EndReason; 7] = [
    EndReason::WallClock,
    EndReason::Cpu,
    EndReason::Memory,
    EndReason::TemporaryFiles,
    EndReason::OpenFiles,
    EndReason::EarlyDrop,
    EndReason::Termination,
];

impl Worker {
    pub(crate) fn new(id: u64, slug: &str, folder: PathBuf, is_single_use: bool) -> Self {
        Self {
            id,
            execution_id: Uuid::new_v4(),
            slug: slug.to_owned(),
            folder,
            state: watch::Sender::new(State::Booting),
            in_flight: AtomicUsize::new(0),
            responses: AtomicU64::new(0),
            retired: AtomicU8::new(0),
            is_single_use,
            is_taken: AtomicBool::new(false),
            is_given_up: AtomicBool::new(false),
            memory_bytes: AtomicU64::new(0),
            created: Instant::now(),
            last_used_ms: AtomicU64::new(0),
            wake: Notify::new(),
        }
    }

    /// Deno's folder of this worker (`DENO_DIR`), beside [`Self::folder`].
    pub(crate) fn deno_folder(&self) -> PathBuf {
        self.folder.with_extension("deno")
    }

    /// The socket on which the function is served.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join("s")
    }

    /// The folder that the function sees as `/tmp`.
    pub(crate) fn temporary_folder(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// Waits until the worker accepts requests.
    ///
    /// # Errors
    /// Why it ended, if it did.
    pub(crate) async fn wait_until_ready(&self) -> Result<(), End> {
        let mut states = self.state.subscribe();
        let state = states.wait_for(|state| *state != State::Booting).await;
        match state.as_deref() {
            Ok(State::Ended(end)) => Err(end.clone()),
            Ok(_) => Ok(()),
            Err(_) => Err(End::Exited),
        }
    }

    /// Waits until its process has ended.
    pub(crate) async fn wait_until_ended(&self) -> End {
        let mut states = self.state.subscribe();
        let state = states.wait_for(|state| matches!(state, State::Ended(_))).await;
        match state.as_deref() {
            Ok(State::Ended(end)) => end.clone(),
            _ => End::Exited,
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        matches!(*self.state.borrow(), State::Ended(_))
    }

    pub(crate) fn is_ready(&self) -> bool {
        *self.state.borrow() == State::Ready
    }

    /// Says that the function is served now.
    pub(crate) fn mark_ready(&self) {
        self.note_use();
        self.state.send_replace(State::Ready);
    }

    pub(crate) fn mark_ended(&self, end: End) {
        self.state.send_replace(State::Ended(end));
    }

    /// Takes the worker for a request; `None` when it gets no new ones.
    pub(crate) fn lease(self: &Arc<Self>) -> Option<Lease> {
        if self.is_single_use && self.is_taken.swap(true, Ordering::SeqCst) {
            return None;
        }
        // Counted before the check: a supervisor that retires the worker in between sees the request and waits for it.
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        let lease = Lease {
            worker: Arc::clone(self),
        };
        if self.is_single_use {
            self.retire(EndReason::EarlyDrop);
            return Some(lease);
        }
        self.retirement().is_none().then_some(lease)
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::SeqCst)
    }

    /// Stops assigning requests to the worker, which ends after those in flight. The first reason is kept.
    pub(crate) fn retire(&self, reason: EndReason) {
        let position = REASONS.iter().position(|known| *known == reason).unwrap_or(0);
        let code = u8::try_from(position + 1).unwrap_or(1);
        let _ = self
            .retired
            .compare_exchange(0, code, Ordering::SeqCst, Ordering::SeqCst);
        self.wake.notify_one();
    }

    /// Ends the worker for lack of room, also if it serves requests: they are answered with 546.
    pub(crate) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::SeqCst);
        self.retire(EndReason::Memory);
    }

    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::SeqCst)
    }

    pub(crate) fn note_memory(&self, bytes: u64) {
        self.memory_bytes.store(bytes, Ordering::Relaxed);
    }

    /// The memory that it used when it was looked at last, in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes.load(Ordering::Relaxed)
    }

    /// Why it gets no new requests; `None` while it gets them.
    pub(crate) fn retirement(&self) -> Option<EndReason> {
        let code = usize::from(self.retired.load(Ordering::SeqCst));
        REASONS.get(code.checked_sub(1)?).copied()
    }

    /// Counts a response whose head has arrived.
    pub(crate) fn count_response(&self) {
        self.responses.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn responses(&self) -> u64 {
        self.responses.load(Ordering::Relaxed)
    }

    pub(crate) fn age(&self) -> Duration {
        self.created.elapsed()
    }

    /// How long it has had no request.
    pub(crate) fn idle_time(&self) -> Duration {
        let last = Duration::from_millis(self.last_used_ms.load(Ordering::Relaxed));
        self.age().saturating_sub(last)
    }

    fn note_use(&self) {
        let now = u64::try_from(self.age().as_millis()).unwrap_or(u64::MAX);
        self.last_used_ms.store(now, Ordering::Relaxed);
    }
}

/// A request's hold on a worker, until its response has been sent.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) worker: Arc<Worker>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let worker = &self.worker;
        worker.note_use();
        let before = worker.in_flight.fetch_sub(1, Ordering::SeqCst);
        if before == 1 && worker.retirement().is_some() {
            worker.wake.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(is_single_use: bool) -> Arc<Worker> {
        Arc::new(Worker::new(1, "hello", PathBuf::from("/nowhere"), is_single_use))
    }

    #[test]
    fn a_retired_worker_gets_no_new_requests_and_keeps_its_first_reason() {
        let worker = worker(false);
        let running = worker.lease().expect("free");

        worker.retire(EndReason::Cpu);
        worker.retire(EndReason::Termination);

        assert!(worker.lease().is_none());
        assert_eq!(
            (worker.in_flight(), worker.retirement()),
            (1, Some(EndReason::Cpu))
        );
        drop(running);
        assert_eq!(worker.in_flight(), 0);
    }

    #[test]
    fn a_single_use_worker_serves_one_request() {
        let worker = worker(true);

        let first = worker.lease();

        assert!(first.is_some() && worker.lease().is_none());
        assert_eq!(worker.in_flight(), 1);
    }

    #[actix_web::test]
    async fn waiting_requests_learn_how_a_worker_ended() {
        let worker = worker(false);
        let waiting = actix_web::rt::spawn({
            let worker = Arc::clone(&worker);
            async move { worker.wait_until_ready().await }
        });

        worker.mark_ended(End::BootFailed);

        assert_eq!(waiting.await.unwrap(), Err(End::BootFailed));
        assert!(worker.has_ended());
    }
}
