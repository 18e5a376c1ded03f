//! The measurements of this process.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use chrono::Utc;
use serde_json::{Value, json};

use super::ring::Ring;
use super::sample::{Sample, names};

/// Steps in seconds and how many of each are kept: ten minutes, six hours, seven days.
const STEPS: [(i64, usize); 3] = [(1, 600), (10, 2160), (60, 10_080)];
/// Connections of the database are counted while somebody has asked for measurements within this many seconds.
const WATCHED_FOR: i64 = 30;

/// The measurements of this process.
pub(crate) struct Recorder {
    names: Vec<String>,
    rings: Mutex<Vec<Ring>>,
    /// When somebody has last asked, in seconds since 1970.
    asked_at: AtomicI64,
}

impl Default for Recorder {
    fn default() -> Self {
        let (now, first) = (Utc::now().timestamp(), Sample::take(None));
        let ring = |(step, capacity)| Ring::new(step, capacity, first.clone(), now);
        Self {
            names: names(),
            rings: Mutex::new(STEPS.map(ring).into()),
            asked_at: AtomicI64::new(0),
        }
    }
}

impl Recorder {
    pub(super) fn record(&self, connections: Option<f64>, now: i64) {
        let sample = Sample::take(connections);
        let mut rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        for ring in rings.iter_mut() {
            ring.add(&sample, now);
        }
    }

    /// All measurements after a moment.
    pub(super) fn to_json(&self, since: Option<i64>) -> Value {
        let now = Utc::now().timestamp();
        self.asked_at.store(now, Ordering::Relaxed);
        let rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        let rings: Vec<Value> = rings
            .iter()
            .map(|ring| ring.to_json(&self.names, since))
            .collect();
        json!({ "rings": rings, "now": now })
    }

    pub(super) fn is_watched(&self, now: i64) -> bool {
        now - self.asked_at.load(Ordering::Relaxed) <= WATCHED_FOR
    }
}
