//! The messages that nodes exchange. Nodes of different versions may run side by side during an upgrade, so unknown
//! fields are ignored and unknown messages dropped.

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::broadcast::{Broadcast, Content};
use crate::frame::Encoding;
use crate::presence::{Entry, Tracked};
use crate::topic::Topic;

/// Bytes of the length in front of a broadcast's header.
const LENGTH_BYTES: usize = 4;

/// The header of a published broadcast.
#[derive(Debug, Serialize, Deserialize)]
struct BroadcastHeader {
    /// Name of the topic with the prefix `realtime:`.
    topic: String,
    private: bool,
    form: Form,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    event: String,
    /// A JSON object as text, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    meta: String,
}

/// The type of a broadcast's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    /// The whole envelope, `{"type":"broadcast","event":…,"payload":…}`.
    Envelope,
    /// The JSON payload of a user broadcast.
    Json,
    /// The opaque bytes of a user broadcast.
    Bytes,
}

/// Writes a broadcast: the length of the header as four bytes, big-endian, the header as JSON, the payload verbatim.
pub(super) fn encode_broadcast(broadcast: &Broadcast) -> Bytes {
    let (form, event, meta, payload) = match broadcast.content() {
        Content::Envelope(envelope) => (Form::Envelope, "", "", envelope),
        Content::User {
            event,
            encoding,
            payload,
            meta,
        } => {
            let form = match encoding {
                Encoding::Json => Form::Json,
                Encoding::Bytes => Form::Bytes,
            };
            (form, event.as_str(), meta.as_str(), payload)
        }
    };
    let header = BroadcastHeader {
        topic: broadcast.topic.wire_name().to_owned(),
        private: broadcast.topic.is_private(),
        form,
        event: event.to_owned(),
        meta: meta.to_owned(),
    };
    let header = serde_json::to_vec(&header).expect("texts can be written as JSON");
    let mut message = BytesMut::with_capacity(LENGTH_BYTES + header.len() + payload.len());
    message.put_u32(u32::try_from(header.len()).expect("topics and events are short"));
    message.put_slice(&header);
    message.put_slice(payload);
    message.freeze()
}

/// Reads a broadcast; `None` for bytes that no node writes.
pub(super) fn decode_broadcast(message: &Bytes) -> Option<Broadcast> {
    let (length, rest) = message.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let header: BroadcastHeader = serde_json::from_slice(rest.get(..length)?).ok()?;
    let payload = message.slice(LENGTH_BYTES + length..);
    let topic = Topic::parse_wire(&header.topic, header.private)?;
    let encoding = match header.form {
        Form::Envelope => return Some(Broadcast::new(topic, Content::Envelope(payload))),
        Form::Json => Encoding::Json,
        Form::Bytes => Encoding::Bytes,
    };
    let content = Content::User {
        event: header.event,
        encoding,
        payload,
        meta: header.meta,
    };
    Some(Broadcast::new(topic, content))
}

/// A channel's tracked presence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TrackedEntry {
    pub(super) key: String,
    pub(super) phx_ref: String,
    pub(super) payload: Map<String, Value>,
}

impl TrackedEntry {
    pub(super) fn from_entry(entry: &Entry) -> Self {
        Self {
            key: entry.key.to_string(),
            phx_ref: entry.phx_ref.clone(),
            payload: serde_json::from_str(&entry.tracked.to_json()).unwrap_or_default(),
        }
    }

    /// The entry as the store of this node keeps it; `None` for a reference that no node makes. References are written
    /// into JSON without escapes.
    pub(super) fn into_entry(self) -> Option<Entry> {
        let is_reference = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.';
        if !self.phx_ref.bytes().all(is_reference) {
            return None;
        }
        let tracked = Tracked::parse(&Value::Object(self.payload).to_string())?;
        Some(Entry::new(self.key.into(), self.phx_ref, tracked))
    }
}

/// A channel of a node, and its topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TrackingChannel {
    /// Name of the topic with the prefix `realtime:`.
    pub(super) topic: String,
    pub(super) private: bool,
    /// Number of the channel, unique on its node.
    pub(super) channel: u64,
}

impl TrackingChannel {
    pub(super) fn new(topic: &Topic, channel: u64) -> Self {
        Self {
            topic: topic.wire_name().to_owned(),
            private: topic.is_private(),
            channel,
        }
    }

    /// The topic; `None` when the name lacks its prefix.
    pub(super) fn topic(&self) -> Option<Topic> {
        Topic::parse_wire(&self.topic, self.private)
    }
}

/// A channel and what it has tracked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TrackedChannel {
    #[serde(flatten)]
    pub(super) channel: TrackingChannel,
    #[serde(flatten)]
    pub(super) entry: TrackedEntry,
}

/// A message about presence. A node numbers its changes without gaps, so that receivers notice a lost one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum PresenceMessage {
    /// A channel has tracked something, or nothing any more.
    Change {
        node: Uuid,
        sequence: u64,
        #[serde(flatten)]
        channel: TrackingChannel,
        entry: Option<TrackedEntry>,
    },
    /// A heartbeat, with the number of the node's last change.
    Heartbeat { node: Uuid, sequence: u64 },
    /// `node` requests the state of the node `of`, or of every node when it is absent.
    Request { node: Uuid, of: Option<Uuid> },
    /// A part of all that the channels of `node` have tracked, for the node `to`. It includes all changes up to
    /// `sequence`.
    State {
        node: Uuid,
        to: Uuid,
        sequence: u64,
        /// From 0 to `parts - 1`, sent in this order.
        part: usize,
        parts: usize,
        channels: Vec<TrackedChannel>,
    },
    /// A node announces that it shuts down.
    Leave { node: Uuid },
}

impl PresenceMessage {
    /// The message as JSON.
    pub(super) fn encode(&self) -> Bytes {
        serde_json::to_vec(self)
            .expect("texts, numbers and JSON objects can be written as JSON")
            .into()
    }

    /// Reads a message; `None` for bytes that no node of this version writes.
    pub(super) fn decode(message: &[u8]) -> Option<Self> {
        serde_json::from_slice(message).ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::frame::Version;

    #[test]
    fn realtime_064_a_broadcast_survives_the_way_through_the_broker() {
        let contents = [
            Content::Envelope(Bytes::from_static(
                br#"{"type":"broadcast","event":"x","payload":1}"#,
            )),
            Content::User {
                event: "hi".to_owned(),
                encoding: Encoding::Json,
                payload: Bytes::from_static(b"{}"),
                meta: r#"{"id":"1"}"#.to_owned(),
            },
            Content::User {
                event: "bytes".to_owned(),
                encoding: Encoding::Bytes,
                payload: Bytes::from_static(&[0, 255, 10]),
                meta: String::new(),
            },
        ];
        for content in contents {
            let sent = Broadcast::new(Topic::new("Räume/1", true), content);
            let received = decode_broadcast(&encode_broadcast(&sent)).expect("it can be read");

            assert_eq!(received.topic, sent.topic);
            assert_eq!(received.frame(Version::V1), sent.frame(Version::V1));
            assert_eq!(received.frame(Version::V2), sent.frame(Version::V2));
        }
    }

    #[test]
    fn realtime_064_foreign_bytes_are_not_read_as_messages() {
        for bytes in [
            &b""[..],
            b"\0\0",
            b"\xff\xff\xff\xff{}",
            b"\0\0\0\x02{}",
            b"hello world",
        ] {
            assert!(
                decode_broadcast(&Bytes::copy_from_slice(bytes)).is_none(),
                "{bytes:?}"
            );
            assert!(PresenceMessage::decode(bytes).is_none(), "{bytes:?}");
        }
    }

    #[test]
    fn realtime_064_presence_messages_survive_the_way_through_the_broker() {
        let channel = TrackingChannel {
            topic: "realtime:room".to_owned(),
            private: false,
            channel: 7,
        };
        let Value::Object(payload) = json!({"kind": "person", "n": 1}) else {
            unreachable!("an object was written")
        };
        let entry = TrackedEntry {
            key: "ada".to_owned(),
            phx_ref: "F1.1".to_owned(),
            payload,
        };
        let node = Uuid::new_v4();
        let messages = [
            PresenceMessage::Change {
                node,
                sequence: 3,
                channel: channel.clone(),
                entry: Some(entry.clone()),
            },
            PresenceMessage::Change {
                node,
                sequence: 4,
                channel: channel.clone(),
                entry: None,
            },
            PresenceMessage::State {
                node,
                to: Uuid::new_v4(),
                sequence: 4,
                part: 0,
                parts: 1,
                channels: vec![TrackedChannel { channel, entry }],
            },
            PresenceMessage::Request { node, of: None },
        ];
        for message in messages {
            assert_eq!(PresenceMessage::decode(&message.encode()), Some(message));
        }
    }
}
