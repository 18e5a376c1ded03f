//! A bounded series of measurements in one resolution.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::sample::Sample;

/// The latest measurements in one resolution, the oldest first; a new one pushes the oldest out.
pub(super) struct Ring {
    step_s: i64,
    capacity: usize,
    values: VecDeque<Box<[f32]>>,
    /// The end of the newest step in seconds since 1970.
    newest_at: i64,
    /// The counters at the end of the newest step, from which the next measurement is computed.
    earlier: Sample,
}

impl Ring {
    pub(super) fn new(step_s: i64, capacity: usize, first: Sample, now: i64) -> Self {
        Self {
            step_s,
            capacity,
            values: VecDeque::new(),
            newest_at: now,
            earlier: first,
        }
    }

    /// Adds a measurement if a step has passed. A longer pause (a laptop that slept) is filled with gaps.
    pub(super) fn add(&mut self, sample: &Sample, now: i64) {
        let steps = (now - self.newest_at) / self.step_s;
        if steps < 1 {
            // The clock was set back, so the kept values would lie in the future, and the series begins anew.
            if now < self.newest_at - self.step_s {
                self.values.clear();
                self.newest_at = now;
                self.earlier = sample.clone();
            }
            return;
        }
        let measured = sample.measure(&self.earlier);
        let gaps = usize::try_from(steps - 1).unwrap_or(0).min(self.capacity);
        for _ in 0..gaps {
            self.values.push_back(vec![f32::NAN; measured.len()].into());
        }
        self.values.push_back(measured);
        while self.values.len() > self.capacity {
            self.values.pop_front();
        }
        // Whole steps are added instead of setting `now`, because a sample that comes a little late would shift all
        // later steps.
        self.newest_at += steps * self.step_s;
        self.earlier = sample.clone();
    }

    /// Returns the values after `since` as one list per measurement, with null for gaps.
    pub(super) fn to_json(&self, names: &[String], since: Option<i64>) -> Value {
        let count = i64::try_from(self.values.len()).unwrap_or(0);
        let first_at = self.newest_at - (count - 1) * self.step_s;
        let skipped = since.map_or(0, |since| ((since - first_at) / self.step_s + 1).clamp(0, count));
        let shown = || self.values.iter().skip(usize::try_from(skipped).unwrap_or(0));
        let column = |index: usize| -> Vec<Option<f32>> {
            shown()
                .map(|values| values.get(index).copied().filter(|value| !value.is_nan()))
                .collect()
        };
        json!({
            "step_s": self.step_s,
            "from": first_at + skipped * self.step_s,
            "names": names,
            "values": (0..names.len()).map(column).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_040_a_ring_keeps_its_last_steps_and_fills_pauses_with_gaps() {
        let names = super::super::sample::measurement_names();
        let mut ring = Ring::new(10, 4, Sample::read(None), 1000);
        for now in [1005, 1010, 1020, 1050] {
            ring.add(&Sample::read(Some(2.0)), now);
        }

        let all = ring.to_json(&names, None);
        let connections = names.iter().position(|name| name == "connections").unwrap();
        assert_eq!(all["from"], 1020);
        assert_eq!(all["values"][connections], json!([2.0, null, null, 2.0]));
        let newer = ring.to_json(&names, Some(1030));
        assert_eq!(
            (newer["from"].clone(), newer["values"][connections].clone()),
            (json!(1040), json!([null, 2.0]))
        );
        assert_eq!(ring.to_json(&names, Some(1050))["values"][connections], json!([]));
    }
}
