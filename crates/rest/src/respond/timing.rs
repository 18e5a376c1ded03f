//! `Server-Timing`: how long each stage took.

use std::time::Instant;

use selvedge_postgres::end_traced_stage;

/// Measures the stages: for the header if `server-timing-enabled` is set, and for the trace of a request that has one.
pub(crate) struct Timing(Option<Marks>);

/// The stages that have ended, and when the current one began.
struct Marks {
    since: Instant,
    text: String,
}

impl Timing {
    /// Starts the clock of the header, if there is to be one.
    pub(crate) fn start(enabled: bool) -> Self {
        Self(enabled.then(|| Marks {
            since: Instant::now(),
            text: String::new(),
        }))
    }

    /// Ends a stage, which began when the one before it ended.
    pub(crate) fn end_stage(&mut self, stage: &'static str) {
        end_traced_stage(stage);
        let Some(Marks { since, text }) = &mut self.0 else {
            return;
        };
        if !text.is_empty() {
            text.push_str(", ");
        }
        // Server-Timing states milliseconds (W3C Server Timing).
        let duration_ms = since.elapsed().as_secs_f64() * 1000.0;
        text.push_str(&format!("{stage};dur={duration_ms:.1}"));
        *since = Instant::now();
    }

    /// The value of the header, if there is to be one.
    pub(crate) fn into_header(self) -> Option<String> {
        self.0.map(|marks| marks.text)
    }
}
