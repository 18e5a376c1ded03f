//! Entry point of the fuzz target `http_framing` (folder `fuzz/`): the framer's result must not depend on how the network
//! splits the stream, because a request could otherwise be smuggled past the checks of the one before it.

use bytes::BytesMut;

use super::framing::{Framer, StopReason};

/// Feeds a stream at once and in pieces, and compares what is forwarded.
///
/// # Panics
/// When the pieces give another result than the whole.
pub fn check_framing(stream: &[u8], piece: usize) {
    let (whole, end) = forward(stream, usize::MAX);
    let (pieces, end_of_pieces) = forward(stream, piece);
    assert_eq!(end, end_of_pieces);
    // Of a malformed body, what came before the malformed byte may have been passed on already.
    if end == Some(StopReason::BrokenBody) {
        assert!(pieces.starts_with(&whole));
    } else {
        assert_eq!(whole, pieces);
    }
}

fn forward(stream: &[u8], piece: usize) -> (Vec<u8>, Option<StopReason>) {
    let mut framer = Framer::new(None);
    let mut forwarded = Vec::new();
    for read in stream.chunks(piece.max(1)) {
        let mut rewritten = BytesMut::new();
        let (unchanged, mut end) = framer.process_input(read, &mut rewritten);
        forwarded.extend_from_slice(&read[..unchanged]);
        while end.is_none() && framer.is_held_back() {
            framer.pass_next_head();
            end = framer.process_input(&[], &mut rewritten).1;
        }
        forwarded.extend_from_slice(&rewritten);
        if end.is_some() {
            return (forwarded, end);
        }
    }
    (forwarded, None)
}
