//! A `presence_diff` of one topic, encoded once per protocol version.

use std::sync::{Arc, OnceLock};

use crate::frame::{EncodedFrame, Reference, ServerFrame, Version};
use crate::limits::HeldMemory;
use crate::topic::Topic;

/// The joins and leaves of a topic since its last diff.
#[derive(Debug)]
pub(crate) struct PresenceDiff {
    pub(crate) topic: Topic,
    /// Diffs have rising numbers. A presence state has the number of the last diff it includes, so that a member can
    /// skip diffs it already knows.
    pub(crate) sequence: u64,
    payload: String,
    /// Frames of version 1 and 2, encoded when the first member needs them.
    frames: [OnceLock<EncodedFrame>; 2],
    /// The reservations of the entries' memory. The frames keep them, because they contain copies of the entries.
    memory: Arc<[Arc<HeldMemory>]>,
}

impl PresenceDiff {
    /// A diff with these joins and leaves: JSON objects `{"<key>":{"metas":[…]}}` as text.
    pub(super) fn new(
        topic: Topic,
        sequence: u64,
        joins: &str,
        leaves: &str,
        memory: Vec<Arc<HeldMemory>>,
    ) -> Self {
        Self {
            topic,
            sequence,
            payload: format!(r#"{{"joins":{joins},"leaves":{leaves}}}"#),
            frames: [OnceLock::new(), OnceLock::new()],
            memory: memory.into(),
        }
    }

    /// The payload as JSON text.
    pub(crate) fn payload(&self) -> &str {
        &self.payload
    }

    /// The fan-out frame in a protocol version.
    pub(crate) fn frame(&self, version: Version) -> &EncodedFrame {
        let cell = match version {
            Version::V1 => &self.frames[0],
            Version::V2 => &self.frames[1],
        };
        cell.get_or_init(|| {
            let frame = ServerFrame {
                join_ref: &Reference::NULL,
                reference: &Reference::NULL,
                topic: self.topic.wire_name(),
                event: "presence_diff",
                payload: &self.payload,
            };
            let frame = frame.encode(version);
            match self.memory.is_empty() {
                true => frame,
                false => frame.keeping(Arc::clone(&self.memory)),
            }
        })
    }
}
