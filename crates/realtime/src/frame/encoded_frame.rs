//! WebSocket frames of the server as they go over the wire (RFC 6455 §5.2).

use bytes::{BufMut, Bytes, BytesMut};

/// First byte of a text message in one frame.
const FINAL_TEXT: u8 = 0x81;
/// First byte of a binary message in one frame.
const FINAL_BINARY: u8 = 0x82;
/// Length byte that announces a length of two bytes.
const LENGTH_OF_TWO_BYTES: u8 = 126;
/// Length byte that announces a length of eight bytes.
const LENGTH_OF_EIGHT_BYTES: u8 = 127;
/// Most bytes before the payload.
const HEADER_BYTES: usize = 10;

/// A message in one WebSocket frame, including the header. Servers do not mask their frames, so every receiver of a message
/// gets the same bytes, which clones share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EncodedFrame(Bytes);

impl EncodedFrame {
    /// A text message that consists of these parts.
    pub(crate) fn text(parts: &[&str]) -> Self {
        let length = parts.iter().map(|part| part.len()).sum();
        let mut frame = start(FINAL_TEXT, length);
        for part in parts {
            frame.put_slice(part.as_bytes());
        }
        Self(frame.freeze())
    }

    /// A binary message that consists of these parts.
    pub(crate) fn binary(parts: &[&[u8]]) -> Self {
        let length = parts.iter().map(|part| part.len()).sum();
        let mut frame = start(FINAL_BINARY, length);
        for part in parts {
            frame.put_slice(part);
        }
        Self(frame.freeze())
    }

    /// The frame, which keeps something until its last clone is dropped: what counts its memory.
    pub(crate) fn keeping<T: Send + Sync + 'static>(self, kept: T) -> Self {
        Self(Bytes::from_owner(Keeping {
            bytes: self.0,
            _kept: kept,
        }))
    }

    /// The frame's bytes.
    pub(crate) fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// Length of the frame in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The message without the frame's header.
    #[cfg(test)]
    pub(crate) fn payload(&self) -> &[u8] {
        let header = match self.0[1] {
            LENGTH_OF_TWO_BYTES => 4,
            LENGTH_OF_EIGHT_BYTES => 10,
            _ => 2,
        };
        &self.0[header..]
    }
}

/// The fields are dropped in this order, so memory is free before others may reserve it.
struct Keeping<T> {
    bytes: Bytes,
    _kept: T,
}

impl<T> AsRef<[u8]> for Keeping<T> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A buffer with the header of a frame, and room for a payload of this many bytes.
fn start(first_byte: u8, length: usize) -> BytesMut {
    let mut frame = BytesMut::with_capacity(HEADER_BYTES + length);
    frame.put_u8(first_byte);
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short), _) if short < LENGTH_OF_TWO_BYTES => frame.put_u8(short),
        (_, Ok(length)) => {
            frame.put_u8(LENGTH_OF_TWO_BYTES);
            frame.put_u16(length);
        }
        _ => {
            frame.put_u8(LENGTH_OF_EIGHT_BYTES);
            frame.put_u64(length as u64);
        }
    }
    frame
}

#[cfg(test)]
mod tests {
    use tokio_tungstenite::tungstenite::protocol::frame::FrameSocket;

    use super::*;

    #[test]
    fn realtime_005_frames_of_every_length_are_read_back_by_a_client() {
        for length in [0, 1, 125, 126, 127, 128, 65_535, 65_536, 3_000_000] {
            let payload = "x".repeat(length);
            let frames = [
                (EncodedFrame::text(&[&payload]), true),
                (EncodedFrame::binary(&[payload.as_bytes()]), false),
            ];
            for (frame, is_text) in frames {
                assert_eq!(frame.payload(), payload.as_bytes());

                let mut client = FrameSocket::new(std::io::Cursor::new(frame.as_bytes().to_vec()));
                let read = client.read(None).unwrap().expect("a whole frame");
                assert_eq!(read.payload(), payload.as_bytes(), "{length} bytes");
                assert!(read.header().is_final && read.header().mask.is_none());
                assert_eq!(u8::from(read.header().opcode), if is_text { 1 } else { 2 });
                assert!(client.read(None).unwrap().is_none(), "nothing behind it");
            }
        }
    }
}
