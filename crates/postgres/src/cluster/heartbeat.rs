//! A sign of life in a project's lock file, for processes that can see neither the holder's process nor its `flock`: two containers on one
//! folder of a file system that does not lock, or two machines. The file's time of change moves on as long as the holder lives.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant, SystemTime};

/// How often the time is set.
const INTERVAL: Duration = Duration::from_secs(2);
/// How long a time that does not move is watched: file systems of other machines show a change somewhat later.
const PATIENCE: Duration = Duration::from_secs(7);
/// A time before this one is not watched: whoever had set it has ended. Clocks of two machines may differ by some seconds.
const RECENT: Duration = Duration::from_secs(60);

/// Sets the time of a file until it is dropped.
#[derive(Debug)]
pub(super) struct Heartbeat {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Begins; the first time is set after an interval, as the caller has just written the file.
    ///
    /// # Errors
    /// When the file cannot be opened, or there can be no further thread.
    pub(super) fn start(path: &Path) -> io::Result<Self> {
        // Not a copy of the caller's handle, which would hold the lock.
        let file = OpenOptions::new().write(true).open(path)?;
        let (stop, stopped) = channel();
        let beat = move || {
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // An error means that the folder is gone, and nobody else can hold it.
                let _ = file.set_modified(SystemTime::now());
            }
        };
        let thread = std::thread::Builder::new()
            .name("heartbeat".to_owned())
            .spawn(beat)?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Whether the file's time may be that of a living holder.
pub(super) fn is_recent(file: &File) -> bool {
    let changed = file.metadata().and_then(|meta| meta.modified());
    // A time in the future is that of another machine's clock.
    changed.is_ok_and(|time| time.elapsed().map_or(true, |age| age < RECENT))
}

/// Watches the file's time, and returns whether it has moved on.
pub(super) fn comes_again(file: &File) -> bool {
    let time = || file.metadata().and_then(|meta| meta.modified()).ok();
    let (before, deadline) = (time(), Instant::now() + PATIENCE);
    while Instant::now() < deadline {
        if time() != before {
            return true;
        }
        sleep(Duration::from_millis(100));
    }
    false
}
