//! Keeps the measurements of this process in three resolutions.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use chrono::Utc;
use serde_json::{Value, json};

use super::ring::Ring;
use super::sample::{Sample, measurement_names};

/// The resolutions as (seconds of a step, steps that are kept): ten minutes, six hours and seven days.
const RESOLUTIONS: [(i64, usize); 3] = [(1, 600), (10, 2160), (60, 10_080)];
/// Database connections are counted while measurements were requested within this many seconds.
const WATCHED_FOR: i64 = 30;

/// Keeps the measurements of this process in three resolutions.
pub(crate) struct Recorder {
    names: Vec<String>,
    rings: Mutex<Vec<Ring>>,
    /// When a page has last asked for measurements, in seconds since 1970.
    asked_at: AtomicI64,
}

impl Default for Recorder {
    fn default() -> Self {
        let (now, first) = (Utc::now().timestamp(), Sample::read(None));
        let ring = |(step, capacity)| Ring::new(step, capacity, first.clone(), now);
        Self {
            names: measurement_names(),
            rings: Mutex::new(RESOLUTIONS.map(ring).into()),
            asked_at: AtomicI64::new(0),
        }
    }
}

impl Recorder {
    pub(super) fn record(&self, connections: Option<f64>, now: i64) {
        let sample = Sample::read(connections);
        let mut rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        for ring in rings.iter_mut() {
            ring.add(&sample, now);
        }
    }

    /// Returns all measurements after `since` as JSON, and records that they were requested.
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
