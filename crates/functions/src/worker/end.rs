//! Why a worker ends.

use crate::error::FunctionError;

/// How a worker process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// Before it served: a module is missing, or the function threw while it was loaded.
    BootFailed,
    /// Deno is missing; the text says how to install it.
    NoDeno(String),
    /// The function ended by itself, because of an uncaught error.
    Exited,
    /// The process was killed because it exceeded a limit.
    LimitReached(EndReason),
    /// As the server asked: idle, replaced after a change, or the server stops.
    Stopped,
}

/// Why a worker is asked to end; its function gets it as `detail.reason` of the event `beforeunload`. Source:
/// functions contract §7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndReason {
    WallClock,
    Cpu,
    Memory,
    /// `/tmp` is full. The worker is killed immediately, so the function is not told this reason.
    TemporaryFiles,
    /// It has too many files and sockets open, and could accept no connection any more.
    OpenFiles,
    /// Idle, or replaced by a worker with newer code.
    EarlyDrop,
    /// The server is shutting down.
    Termination,
}

impl EndReason {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::WallClock => "wall_clock",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::TemporaryFiles => "temporary_files",
            Self::OpenFiles => "open_files",
            Self::EarlyDrop => "early_drop",
            Self::Termination => "termination",
        }
    }
}

impl From<&End> for FunctionError {
    /// Returns the error for a request that waited for a response when the worker ended.
    fn from(end: &End) -> Self {
        match end {
            End::BootFailed => Self::BootFailed,
            End::NoDeno(text) => Self::NoDeno(text.clone()),
            End::Exited => Self::WorkerExited,
            End::LimitReached(_) => Self::LimitReached,
            End::Stopped => Self::WorkerExited,
        }
    }
}
