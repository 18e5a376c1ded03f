//! Binary frames of version 2: kind 3 (broadcast push) from clients, kind 4 (broadcast) to them.
//!
//! Every text is preceded in the header by its length in UTF-8 bytes, as one byte. The stock client throws on every
//! other kind, so the server sends none.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::client_frame::{ClientFrame, Payload, UserBroadcast};
use super::encoded_frame::EncodedFrame;
use super::encoding::Encoding;
use super::reference::Reference;
use super::version::Version;

/// Kind byte of a client's broadcast.
const USER_BROADCAST_PUSH: u8 = 3;
/// Kind byte of a broadcast to clients.
const USER_BROADCAST: u8 = 4;

/// Parses a binary frame of a client. `None` for a malformed frame and for kinds other than 3; version 1 has no binary
/// frames at all.
pub(crate) fn parse_binary(version: Version, frame: &Bytes) -> Option<ClientFrame> {
    match version {
        Version::V1 => None,
        Version::V2 => parse_user_broadcast_push(frame),
    }
}

/// Parses `[3][join_ref_len][ref_len][topic_len][event_len][meta_len][enc]`, the five texts, and the payload.
fn parse_user_broadcast_push(frame: &Bytes) -> Option<ClientFrame> {
    let [kind, join_ref, reference, topic, event, meta, encoding, ..] = frame[..] else {
        return None;
    };
    if kind != USER_BROADCAST_PUSH {
        return None;
    }
    let mut rest = &frame[7..];
    let join_ref = take_text(&mut rest, join_ref)?;
    let reference = take_text(&mut rest, reference)?;
    let topic = take_text(&mut rest, topic)?;
    let event = take_text(&mut rest, event)?;
    // Compat: a client's meta is not passed on, and all of it but `persist` is ignored.
    let (meta, behind) = rest.split_at_checked(usize::from(meta))?;
    rest = behind;
    let encoding = match encoding {
        0 => Encoding::Bytes,
        1 => Encoding::Json,
        _ => return None,
    };
    // Invalid JSON would break receivers of version 1, which get the payload inside a JSON text.
    if encoding == Encoding::Json && serde_json::from_slice::<serde::de::IgnoredAny>(rest).is_err() {
        return None;
    }
    Some(ClientFrame {
        join_ref: Reference::from_text(join_ref),
        reference: Reference::from_text(reference),
        topic: topic.to_owned(),
        event: "broadcast".to_owned(),
        payload: Payload::UserBroadcast(UserBroadcast {
            event: event.to_owned(),
            encoding,
            payload: frame.slice_ref(rest),
            wants_persistence: wants_persistence(meta),
        }),
        bytes: frame.len(),
        received: None,
    })
}

/// Whether a client's meta has `persist`, in whatever form. Meta that is no JSON object counts as empty.
fn wants_persistence(meta: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Meta {
        #[serde(default)]
        persist: Value,
    }
    let persist = serde_json::from_slice(meta).map(|Meta { persist }| persist);
    !matches!(persist, Err(_) | Ok(Value::Null | Value::Bool(false)))
}

/// Splits a text of this many bytes off the front; `None` when it is cut short or not UTF-8.
fn take_text<'a>(rest: &mut &'a [u8], length: u8) -> Option<&'a str> {
    let (text, behind) = rest.split_at_checked(usize::from(length))?;
    *rest = behind;
    std::str::from_utf8(text).ok()
}

/// Encodes `[4][topic_len][event_len][meta_len][enc]`, the three texts, and the payload. `None` when a text is longer
/// than 255 bytes, the most that a length byte can express; the caller then sends a text frame.
pub(crate) fn encode_user_broadcast(
    topic: &str,
    event: &str,
    meta: &str,
    encoding: Encoding,
    payload: &[u8],
) -> Option<EncodedFrame> {
    let length = |text: &str| u8::try_from(text.len()).ok();
    let encoding = match encoding {
        Encoding::Bytes => 0,
        Encoding::Json => 1,
    };
    let head = [
        USER_BROADCAST,
        length(topic)?,
        length(event)?,
        length(meta)?,
        encoding,
    ];
    Some(EncodedFrame::binary(&[
        &head,
        topic.as_bytes(),
        event.as_bytes(),
        meta.as_bytes(),
        payload,
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn realtime_008_lengths_count_utf8_bytes() {
        let frame = encode_user_broadcast("realtime:✓", "é", "", Encoding::Bytes, &[0, 255]).unwrap();

        assert_eq!(frame.payload()[..5], [4, 12, 2, 0, 0]);
        assert!(frame.payload().ends_with(&[0, 255]));
        assert!(encode_user_broadcast("t", &"é".repeat(128), "", Encoding::Json, b"1").is_none());
    }

    #[test]
    fn realtime_216_meta_is_read_for_persist_only() {
        for meta in [
            r#"{"persist":true}"#,
            r#"{"other":1,"persist":{"ttl":5}}"#,
            r#"{"persist":"odd"}"#,
        ] {
            assert!(wants_persistence(meta.as_bytes()), "{meta}");
        }
        for meta in [
            "",
            "{}",
            "{",
            "7",
            r#"{"persist":false}"#,
            r#"{"other":true}"#,
            "\u{0}",
        ] {
            assert!(!wants_persistence(meta.as_bytes()), "{meta}");
        }
        assert!(!wants_persistence(&[0xff, 0xfe]));
        // The meta is longer than the frame.
        let cut = Bytes::from_static(b"\x03\x00\x00\x01\x01\xff\x01te{}");
        assert!(parse_user_broadcast_push(&cut).is_none());
    }

    #[test]
    fn realtime_049_truncated_and_unknown_binary_frames_are_not_parsed() {
        let malformed: [&[u8]; 7] = [
            b"",
            b"\x03",
            b"\x03\x01",
            b"\x03\x01\x01\xff\x02\x00",
            b"\x09\x00\x00\x00",
            b"\x03\x00\x00\x00\x00\x00\x02",
            b"\x03\x00\x00\x00\x00\x00\x01{",
        ];
        for bytes in malformed {
            assert!(
                parse_user_broadcast_push(&Bytes::from_static(bytes)).is_none(),
                "{bytes:?}"
            );
        }
    }
}
