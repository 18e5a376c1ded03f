//! Passes a file's chunks from the statement to the response; for a slow client a few chunks are queued, and then the
//! statement waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{Stream, unfold};
use tokio::sync::{mpsc, oneshot};

use crate::error::ConsoleError;

/// The portions that wait for a slow client before PostgreSQL is made to wait, too.
const WAITING_PORTIONS: usize = 4;
/// Rows are collected to portions of about this size.
const PORTION_BYTES: usize = 64 * 1024;

/// The export ended before its last row; the body then ends without its last chunk, which clients notice.
#[derive(Debug, thiserror::Error)]
#[error("the export ended before its last row")]
pub(super) struct Interrupted;

/// Where an export's file goes to: first its name, or the error, then its portions.
///
/// Dropping it without [`Self::finish`] breaks the body off. Nothing has to be sent for that, so a client that takes
/// nothing any more cannot delay it.
pub(super) struct Output {
    begun: Option<oneshot::Sender<Result<String, ConsoleError>>>,
    portions: mpsc::Sender<Bytes>,
    is_whole: Arc<AtomicBool>,
    stall_limit: Duration,
}

/// The response's end of an export's file.
pub(super) struct Download {
    beginning: oneshot::Receiver<Result<String, ConsoleError>>,
    portions: mpsc::Receiver<Bytes>,
    is_whole: Arc<AtomicBool>,
}

/// Returns both ends of an export's file. A client that takes nothing for `stall_limit` is given up.
pub(super) fn connect(stall_limit: Duration) -> (Output, Download) {
    let (begun, beginning) = oneshot::channel();
    let (sender, receiver) = mpsc::channel(WAITING_PORTIONS);
    let is_whole = Arc::new(AtomicBool::new(false));
    let output = Output {
        begun: Some(begun),
        portions: sender,
        is_whole: Arc::clone(&is_whole),
        stall_limit,
    };
    let download = Download {
        beginning,
        portions: receiver,
        is_whole,
    };
    (output, download)
}

impl Output {
    /// Lets the answer begin.
    pub(super) fn begin(&mut self, name: String) {
        if let Some(begun) = self.begun.take() {
            // An error means that the client has disconnected; sending the first chunk detects it.
            begun.send(Ok(name)).ok();
        }
    }

    /// Sends the portion once it is large enough; false when the client takes no more.
    pub(super) async fn send_full(&self, portion: &mut BytesMut) -> bool {
        portion.len() < PORTION_BYTES || self.send(portion.split().freeze()).await
    }

    /// Sends a chunk; false when the client has disconnected.
    pub(super) async fn send(&self, portion: Bytes) -> bool {
        self.portions
            .send_timeout(portion, self.stall_limit)
            .await
            .is_ok()
    }

    /// Returns another sender of chunks, by which the client's disconnection is noticed.
    pub(super) fn watch(&self) -> mpsc::Sender<Bytes> {
        self.portions.clone()
    }

    /// Ends the body after its last portion.
    pub(super) fn finish(self) {
        self.is_whole.store(true, Ordering::Release);
    }

    /// Reports an error: as the answer if that has not begun, else by breaking the body off.
    pub(super) fn fail(mut self, error: ConsoleError) {
        match self.begun.take() {
            Some(begun) => {
                begun.send(Err(error)).ok();
            }
            None => tracing::warn!(%error, "an export ended early"),
        }
    }
}

impl Download {
    /// Waits for the file's name, or for the error that came instead of rows.
    pub(super) async fn name(&mut self) -> Result<String, ConsoleError> {
        let beginning = (&mut self.beginning).await;
        beginning.unwrap_or_else(|_| Err(ConsoleError::unavailable("The export could not begin")))
    }

    /// Returns the body, which ends with an error unless the file is whole.
    pub(super) fn body(self) -> impl Stream<Item = Result<Bytes, Interrupted>> {
        let Self {
            portions, is_whole, ..
        } = self;
        unfold(Some(portions), move |portions| {
            let is_whole = Arc::clone(&is_whole);
            async move {
                let mut portions = portions?;
                match portions.recv().await {
                    Some(portion) => Some((Ok(portion), Some(portions))),
                    None if is_whole.load(Ordering::Acquire) => None,
                    None => Some((Err(Interrupted), None)),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;

    use super::*;

    async fn read(download: Download) -> (usize, bool) {
        let portions: Vec<_> = download.body().collect().await;
        let whole = portions.iter().filter(|portion| portion.is_ok()).count();
        (whole, whole == portions.len())
    }

    #[tokio::test]
    async fn console_058_a_client_that_stalls_sees_the_body_broken_off() {
        let (output, download) = connect(Duration::from_millis(20));
        for _ in 0..WAITING_PORTIONS {
            assert!(output.send(Bytes::from_static(b"x")).await);
        }
        assert!(!output.send(Bytes::from_static(b"x")).await, "nobody reads");
        drop(output);

        assert_eq!(read(download).await, (WAITING_PORTIONS, false));
    }

    #[tokio::test]
    async fn console_058_an_error_breaks_the_body_off_without_waiting_for_the_client() {
        let (mut output, mut download) = connect(Duration::from_secs(3600));
        output.begin("a.csv".to_owned());
        for _ in 0..WAITING_PORTIONS {
            assert!(output.send(Bytes::from_static(b"x")).await);
        }
        output.fail(ConsoleError::unavailable("The database is away"));

        assert_eq!(download.name().await.expect("a name"), "a.csv");
        assert_eq!(read(download).await, (WAITING_PORTIONS, false));
    }

    #[tokio::test]
    async fn console_058_a_whole_file_ends_without_an_error() {
        let (output, download) = connect(Duration::from_secs(1));
        assert!(output.send(Bytes::from_static(b"x")).await);
        output.finish();
        assert_eq!(read(download).await, (1, true));
    }
}
