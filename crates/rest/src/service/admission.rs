//! Whether a worker of `selvedge rest` accepts a request, which has no gateway in front of it that decides this.

use std::cell::Cell;

use selvedge_memory::MemoryBudget;

use crate::error::RestError;

/// Counts the requests that one worker has in progress.
#[derive(Debug, Default)]
pub(super) struct Admission {
    in_progress: Cell<usize>,
}

/// A request in progress, until this is dropped.
#[derive(Debug)]
pub(super) struct Admitted<'a>(&'a Cell<usize>);

impl Admission {
    /// Accepts a request, unless the process runs short of memory. A worker without any takes one in every case: refusing it
    /// would free nothing, and whatever else uses the memory may go on doing so.
    ///
    /// # Errors
    /// 503 when memory runs short.
    pub(super) fn admit(&self, memory: &MemoryBudget) -> Result<Admitted<'_>, RestError> {
        let in_progress = self.in_progress.get();
        if memory.is_short() && in_progress > 0 {
            return Err(RestError::OutOfMemory { is_committed: false });
        }
        self.in_progress.set(in_progress + 1);
        Ok(Admitted(&self.in_progress))
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
