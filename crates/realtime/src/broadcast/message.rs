//! One broadcast and its frames (conversions between versions: realtime contract §2.4).

use std::sync::OnceLock;

use bytes::Bytes;
use chrono::NaiveDateTime;
use selvedge_memory::COUNTED_FROM;
use uuid::Uuid;

use crate::frame::{
    EncodedFrame, Encoding, Reference, ServerFrame, Version, encode_user_broadcast, json_string,
};
use crate::topic::Topic;

/// The content of a broadcast, in the form in which it was sent.
#[derive(Debug)]
pub(crate) enum Content {
    /// A whole payload as JSON text, `{"type":"broadcast","event":…,"payload":…}`, passed on verbatim in a text frame.
    Envelope(Bytes),
    /// Event and payload apart; version 2 gets them as a binary frame.
    User {
        event: String,
        encoding: Encoding,
        payload: Bytes,
        /// A JSON object, or empty.
        meta: String,
    },
}

/// The primary key of a row of `realtime.messages`, its id and `inserted_at`: two rows may have the same id.
pub(crate) type RowKey = (Uuid, NaiveDateTime);

/// A broadcast. Each frame is encoded when the first member of a version needs it, and shared by all members and
/// threads.
#[derive(Debug)]
pub(crate) struct Broadcast {
    pub(crate) topic: Topic,
    /// The row of `realtime.messages` that the broadcast was read from. Members that got the row by replay do not get it
    /// again.
    pub(crate) row: Option<RowKey>,
    content: Content,
    version_1: OnceLock<Option<EncodedFrame>>,
    version_2: OnceLock<Option<EncodedFrame>>,
}

impl Broadcast {
    pub(crate) fn new(topic: Topic, content: Content) -> Self {
        Self {
            topic,
            row: None,
            content,
            version_1: OnceLock::new(),
            version_2: OnceLock::new(),
        }
    }

    /// A broadcast that was read from `realtime.messages`.
    pub(crate) fn of_row(topic: Topic, row: RowKey, content: Content) -> Self {
        Self {
            row: Some(row),
            ..Self::new(topic, content)
        }
    }

    /// The payload of the broadcast.
    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// The frame in a protocol version; `None` for opaque bytes in version 1, which has only JSON text.
    pub(crate) fn frame(&self, version: Version) -> Option<&EncodedFrame> {
        let cell = match version {
            Version::V1 => &self.version_1,
            Version::V2 => &self.version_2,
        };
        cell.get_or_init(|| {
            let frame = self.content.encode(&self.topic, version, &Reference::NULL)?;
            // The content carries the reservation of memory, which so lasts as long as the message and the frames made of it.
            Some(match frame.len() >= COUNTED_FROM {
                true => frame.keeping(self.content.bytes().clone()),
                false => frame,
            })
        })
        .as_ref()
    }
}

impl Content {
    /// The payload as it came.
    fn bytes(&self) -> &Bytes {
        match self {
            Self::Envelope(bytes) | Self::User { payload: bytes, .. } => bytes,
        }
    }

    /// Encodes a frame: binary where version 2 has a binary form for the content, else text with this `join_ref`.
    /// `None` when neither can carry it.
    pub(crate) fn encode(
        &self,
        topic: &Topic,
        version: Version,
        join_ref: &Reference,
    ) -> Option<EncodedFrame> {
        if let (
            Version::V2,
            Self::User {
                event,
                encoding,
                payload,
                meta,
            },
        ) = (version, self)
            && let Some(frame) = encode_user_broadcast(topic.wire_name(), event, meta, *encoding, payload)
        {
            return Some(frame);
        }
        self.encode_text(topic, version, join_ref)
    }

    /// Encodes a text frame; `None` for opaque bytes, which JSON cannot carry.
    pub(crate) fn encode_text(
        &self,
        topic: &Topic,
        version: Version,
        join_ref: &Reference,
    ) -> Option<EncodedFrame> {
        let envelope = match self {
            Self::Envelope(payload) => payload.clone(),
            Self::User {
                encoding: Encoding::Bytes,
                ..
            } => return None,
            Self::User {
                event, payload, meta, ..
            } => Bytes::from(write_envelope(event, payload, meta)),
        };
        let frame = ServerFrame {
            join_ref,
            reference: &Reference::NULL,
            topic: topic.wire_name(),
            event: "broadcast",
            payload: std::str::from_utf8(&envelope).ok()?,
        };
        Some(frame.encode(version))
    }
}

/// Writes `{"type":"broadcast","event":…,"payload":…}`, with `meta` unless it is empty. `payload` and `meta` must be
/// valid JSON.
pub(crate) fn write_envelope(event: &str, payload: &[u8], meta: &str) -> Vec<u8> {
    let mut envelope = Vec::with_capacity(64 + event.len() + payload.len() + meta.len());
    envelope.extend_from_slice(br#"{"type":"broadcast","event":"#);
    envelope.extend_from_slice(json_string(event).as_bytes());
    envelope.extend_from_slice(br#","payload":"#);
    envelope.extend_from_slice(payload);
    if !meta.is_empty() {
        envelope.extend_from_slice(br#","meta":"#);
        envelope.extend_from_slice(meta.as_bytes());
    }
    envelope.push(b'}');
    envelope
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_broadcast(encoding: Encoding) -> Broadcast {
        let content = Content::User {
            event: "hi".to_owned(),
            encoding,
            payload: Bytes::from_static(b"{\"a\":1}"),
            meta: String::new(),
        };
        Broadcast::new(Topic::new("room", false), content)
    }

    #[test]
    fn realtime_007_json_broadcast_is_binary_in_version_2_and_an_envelope_in_version_1() {
        let broadcast = user_broadcast(Encoding::Json);

        let binary = broadcast.frame(Version::V2).unwrap().payload();
        assert_eq!(binary, b"\x04\x0d\x02\x00\x01realtime:roomhi{\"a\":1}");
        assert_eq!(
            broadcast.frame(Version::V1).unwrap().payload(),
            br#"{"topic":"realtime:room","event":"broadcast","payload":{"type":"broadcast","event":"hi","payload":{"a":1}},"ref":null}"#
        );
    }

    #[test]
    fn realtime_008_bytes_have_no_frame_in_version_1() {
        assert!(user_broadcast(Encoding::Bytes).frame(Version::V1).is_none());
    }

    #[test]
    fn realtime_062_a_frame_is_encoded_once_per_version() {
        let broadcast = user_broadcast(Encoding::Json);

        let first = broadcast.frame(Version::V2).unwrap().clone();
        let second = broadcast.frame(Version::V2).unwrap().clone();

        let addresses = [first, second].map(|frame| frame.as_bytes().as_ptr());
        assert_eq!(addresses[0], addresses[1], "both share one buffer");
    }
}
