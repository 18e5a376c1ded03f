//! Text frames that the server sends.

use super::encoded_frame::EncodedFrame;
use super::reference::Reference;
use super::version::Version;

/// A message to a client. Fan-out messages have null references; messages of one channel carry its `join_ref`, because
/// the stock client drops a message whose `join_ref` is neither null nor that of its current join.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerFrame<'a> {
    pub(crate) join_ref: &'a Reference,
    pub(crate) reference: &'a Reference,
    pub(crate) topic: &'a str,
    pub(crate) event: &'a str,
    /// Payload of the message as JSON text.
    pub(crate) payload: &'a str,
}

impl ServerFrame<'_> {
    /// Writes the frame in a protocol version. Compat: version 1 has exactly four keys and no `join_ref`, because
    /// realtime-py rejects unknown keys.
    pub(crate) fn encode(&self, version: Version) -> EncodedFrame {
        let (topic, event) = (json_string(self.topic), json_string(self.event));
        let (reference, payload) = (self.reference.as_json(), self.payload);
        match version {
            Version::V1 => EncodedFrame::text(&[
                r#"{"topic":"#,
                &topic,
                r#","event":"#,
                &event,
                r#","payload":"#,
                payload,
                r#","ref":"#,
                reference,
                "}",
            ]),
            Version::V2 => {
                let join_ref = self.join_ref.as_json();
                EncodedFrame::text(&[
                    "[", join_ref, ",", reference, ",", &topic, ",", &event, ",", payload, "]",
                ])
            }
        }
    }
}

/// A text as a JSON string.
pub(crate) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn realtime_005_version_1_has_four_keys_and_version_2_five_elements() {
        let reference = Reference::from_json("\"7\"");
        let frame = ServerFrame {
            join_ref: &reference,
            reference: &Reference::NULL,
            topic: "realtime:\"q\"",
            event: "system",
            payload: "{}",
        };

        assert_eq!(
            frame.encode(Version::V1).payload(),
            br#"{"topic":"realtime:\"q\"","event":"system","payload":{},"ref":null}"#
        );
        assert_eq!(
            frame.encode(Version::V2).payload(),
            br#"["7",null,"realtime:\"q\"","system",{}]"#
        );
    }
}
