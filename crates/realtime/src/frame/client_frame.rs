//! Frames that clients send. A frame that cannot be parsed is dropped and the socket stays open (realtime contract
//! §2.5).

use std::borrow::Cow;
use std::fmt;
use std::time::Instant;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::encoding::Encoding;
use super::reference::Reference;
use super::version::Version;

/// Longest topic in bytes. Topics are keys of maps, columns of `realtime.messages` and parts of every answer.
const MAX_TOPIC_BYTES: usize = 1024;
/// Longest event name of the protocol, and longest reference as JSON text, in bytes. They are echoed.
const MAX_NAME_BYTES: usize = 256;

/// A client's message, in the same form for both protocol versions.
#[derive(Debug, Clone)]
pub(crate) struct ClientFrame {
    pub(crate) join_ref: Reference,
    pub(crate) reference: Reference,
    pub(crate) topic: String,
    pub(crate) event: String,
    pub(crate) payload: Payload,
    /// Bytes of the whole frame, which the payload keeps in memory.
    pub(crate) bytes: usize,
    /// When it arrived; only where spans of messages are exported.
    pub(crate) received: Option<Instant>,
}

/// The payload of a message.
#[derive(Debug, Clone)]
pub(crate) enum Payload {
    /// Valid JSON text as the client wrote it: broadcasts are passed on byte by byte, which keeps numbers and key
    /// order.
    Json(Bytes),
    /// A binary push of kind 3, whose event is always `broadcast`.
    UserBroadcast(UserBroadcast),
}

/// A broadcast whose event name and payload are sent apart, so that the payload need not be JSON.
#[derive(Debug, Clone)]
pub(crate) struct UserBroadcast {
    pub(crate) event: String,
    pub(crate) encoding: Encoding,
    pub(crate) payload: Bytes,
    /// Whether the client wants it stored.
    pub(crate) wants_persistence: bool,
}

impl ClientFrame {
    /// Parses a text frame; `None` for a malformed one, and for one whose topic, event or references are too long.
    pub(crate) fn parse_text(version: Version, text: &Bytes) -> Option<Self> {
        let frame = match version {
            Version::V1 => {
                let object: Object<'_> = serde_json::from_slice(text).ok()?;
                Parts {
                    join_ref: object.join_ref,
                    reference: object.reference,
                    topic: object.topic,
                    event: object.event,
                    payload: object.payload,
                }
            }
            Version::V2 => {
                let array: Array<'_> = serde_json::from_slice(text).ok()?;
                Parts {
                    join_ref: Some(array.join_ref),
                    reference: array.reference,
                    topic: array.topic,
                    event: array.event,
                    payload: array.payload,
                }
            }
        };
        frame.fits_limits().then(|| frame.into_frame(text))
    }
}

/// The parts of a text frame of either version.
struct Parts<'a> {
    join_ref: Option<&'a RawValue>,
    reference: &'a RawValue,
    topic: Cow<'a, str>,
    event: Cow<'a, str>,
    payload: &'a RawValue,
}

impl Parts<'_> {
    /// Whether everything but the payload has a length that the server keeps and echoes.
    fn fits_limits(&self) -> bool {
        let join_ref = self.join_ref.map_or("", RawValue::get);
        self.topic.len() <= MAX_TOPIC_BYTES
            && [&self.event, self.reference.get(), join_ref]
                .iter()
                .all(|text| text.len() <= MAX_NAME_BYTES)
    }

    fn into_frame(self, text: &Bytes) -> ClientFrame {
        ClientFrame {
            join_ref: self
                .join_ref
                .map_or(Reference::NULL, |raw| Reference::from_json(raw.get())),
            reference: Reference::from_json(self.reference.get()),
            topic: self.topic.into_owned(),
            event: self.event.into_owned(),
            payload: Payload::slice_of(text, self.payload),
            bytes: text.len(),
            received: None,
        }
    }
}

impl Payload {
    /// Bytes of the payload.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Json(text) => text.len(),
            Self::UserBroadcast(push) => push.payload.len(),
        }
    }

    /// A payload that shares the frame's buffer.
    fn slice_of(text: &Bytes, raw: &RawValue) -> Self {
        Self::Json(text.slice_ref(raw.get().as_bytes()))
    }

    /// The JSON payload as a Rust type; `None` for binary pushes and for JSON of another shape.
    pub(crate) fn parse<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        match self {
            Self::Json(text) => serde_json::from_slice(text).ok(),
            Self::UserBroadcast(_) => None,
        }
    }
}

/// A frame of version 1. `payload` and `ref` are required, even if null; `join_ref` may be missing.
#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    topic: Cow<'a, str>,
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    payload: &'a RawValue,
    #[serde(borrow, rename = "ref")]
    reference: &'a RawValue,
    #[serde(borrow, default)]
    join_ref: Option<&'a RawValue>,
}

/// A frame of version 2: `[join_ref, ref, topic, event, payload]`. Further elements are ignored.
struct Array<'a> {
    join_ref: &'a RawValue,
    reference: &'a RawValue,
    topic: Cow<'a, str>,
    event: Cow<'a, str>,
    payload: &'a RawValue,
}

impl<'de: 'a, 'a> Deserialize<'de> for Array<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ArrayVisitor)
    }
}

struct ArrayVisitor;

/// A JSON string; borrowed from the frame unless it contains escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for ArrayVisitor {
    type Value = Array<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of join_ref, ref, topic, event and payload")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let missing = |count| serde::de::Error::invalid_length(count, &self);
        let array = Array {
            join_ref: elements.next_element()?.ok_or_else(|| missing(0))?,
            reference: elements.next_element()?.ok_or_else(|| missing(1))?,
            topic: elements.next_element::<Text<'de>>()?.ok_or_else(|| missing(2))?.0,
            event: elements.next_element::<Text<'de>>()?.ok_or_else(|| missing(3))?.0,
            payload: elements.next_element()?.ok_or_else(|| missing(4))?,
        };
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(version: Version, text: &'static str) -> Option<ClientFrame> {
        ClientFrame::parse_text(version, &Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn realtime_005_version_2_frames_ignore_elements_after_the_fifth() {
        let frame = parse(
            Version::V2,
            r#"[null,"1","realtime:a\u0062","x",{"k": 1.50},"more",7]"#,
        )
        .unwrap();

        assert_eq!(
            (frame.join_ref.as_json(), frame.reference.as_json()),
            ("null", "\"1\"")
        );
        assert_eq!((frame.topic.as_str(), frame.event.as_str()), ("realtime:ab", "x"));
        let Payload::Json(payload) = frame.payload else {
            panic!("JSON")
        };
        assert_eq!(payload, r#"{"k": 1.50}"#, "the payload is kept verbatim");
    }

    #[test]
    fn realtime_049_malformed_frames_are_not_parsed() {
        for text in [
            "not json",
            "[]",
            "null",
            "42",
            "\"x\"",
            "",
            "[null,\"2\",\"phoenix\"]",
            "[1,2,3,4,5]",
        ] {
            assert!(parse(Version::V2, text).is_none(), "{text}");
        }
        let incomplete = [
            r#"{"topic":"phoenix","event":"heartbeat","ref":"1"}"#,
            r#"{"topic":"phoenix","event":"heartbeat","payload":{}}"#,
            r#"[null,"2","phoenix","heartbeat",{}]"#,
        ];
        for text in incomplete {
            assert!(parse(Version::V1, text).is_none(), "{text}");
        }
    }

    #[test]
    fn realtime_005_version_1_frames_may_lack_join_ref_and_have_a_null_ref() {
        let frame = parse(
            Version::V1,
            r#"{"topic":"phoenix","event":"heartbeat","payload":null,"ref":null}"#,
        )
        .unwrap();

        assert_eq!(frame.reference, Reference::NULL);
        assert_eq!(frame.join_ref, Reference::NULL);
    }
}
