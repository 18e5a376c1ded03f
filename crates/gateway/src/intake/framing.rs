//! Where requests begin and end in a stream of bytes. Pure.
//!
//! Only as much of HTTP/1.1 is understood as is needed to find the next request line with certainty. What two readers
//! of the stream could understand differently is refused; after an upgrade the rest of the connection passes untouched.

use bytes::{Buf, BytesMut};
use memchr::{memchr, memchr_iter};

use super::chunks::{Broken, Chunks};
use super::head::{Head, LONGEST_HEAD, LONGEST_TARGET};
use super::refusal::{Reason, Refused};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Before or in a request's head.
    Head,
    /// In a body with this many bytes to come.
    Body(u64),
    /// In a body that says itself where it ends.
    Chunked(Chunks),
    /// Bytes are nobody's business any more.
    Open,
}

/// Why the stream ends here.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A request is refused, with words.
    Refused(Refused),
    /// A body is broken; its request is with the server already, which has the words.
    BrokenBody,
}

impl From<Refused> for End {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Broken> for End {
    fn from(_: Broken) -> Self {
        Self::BrokenBody
    }
}

/// Follows one connection.
#[derive(Debug)]
pub(super) struct Framer {
    state: State,
    /// The beginning of a head whose end is still to come.
    held: BytesMut,
    /// How much of it was searched for its end.
    searched: usize,
    /// Whether a head was seen whole.
    begun: bool,
}

impl Framer {
    pub(super) fn new() -> Self {
        Self {
            state: State::Head,
            held: BytesMut::new(),
            searched: 0,
            begun: false,
        }
    }

    /// Whether more must come: the rest of a head or of a body, or a connection's first request.
    pub(super) fn is_waiting(&self) -> bool {
        match self.state {
            State::Head => !self.begun || !self.held.is_empty(),
            State::Body(_) | State::Chunked(_) => true,
            State::Open => false,
        }
    }

    /// Whether what must come is (the rest of) a head.
    pub(super) fn is_in_head(&self) -> bool {
        self.state == State::Head
    }

    /// What to tell somebody who takes too long for a head; nothing to somebody who never said a word.
    pub(super) fn give_up(&self) -> Option<Refused> {
        (!self.held.is_empty()).then(|| Refused::of(Reason::HeadTooSlow, &self.held))
    }

    /// Takes note of what was read. Says how many bytes at its front pass as they are; the others have been taken,
    /// and `out` is what to pass instead, as soon as there is anything to pass. Behind both the stream may end.
    pub(super) fn take(&mut self, read: &[u8], out: &mut BytesMut) -> (usize, Option<End>) {
        let mut passed = 0;
        if self.held.is_empty()
            && let Err(Broken) = self.pass(read, &mut passed)
        {
            return (passed, Some(End::BrokenBody));
        }
        if passed == read.len() {
            return (passed, None);
        }
        self.held.extend_from_slice(&read[passed..]);
        (passed, self.release(out).err())
    }

    /// The rule: whole heads without anything to rewrite, and bodies. Nothing is copied.
    fn pass(&mut self, read: &[u8], passed: &mut usize) -> Result<(), Broken> {
        while *passed < read.len() {
            if self.state == State::Head {
                *passed += empty_lines(&read[*passed..]);
                let rest = &read[*passed..];
                let Some(end) = end_of_head(rest, 0) else {
                    break;
                };
                // one to rewrite or to refuse is looked at again, behind what passes
                match Head::read(&rest[..end]) {
                    Ok(head) if head.target.is_none() => self.enter(head.next),
                    _ => break,
                }
                *passed += end;
            } else {
                *passed += self.pass_body(&read[*passed..])?;
            }
        }
        Ok(())
    }

    fn release(&mut self, out: &mut BytesMut) -> Result<(), End> {
        while !self.held.is_empty() {
            if self.state == State::Head {
                self.held.advance(empty_lines(&self.held));
                let Some(end) = end_of_head(&self.held, self.searched) else {
                    self.searched = self.held.len().saturating_sub(2);
                    return Ok(check_size(&self.held)?);
                };
                self.searched = 0;
                let head = Head::read(&self.held[..end])?;
                head.write(&self.held[..end], out);
                self.enter(head.next);
                self.held.advance(end);
            } else {
                let held = std::mem::take(&mut self.held);
                let length = self.pass_body(&held)?;
                out.extend_from_slice(&held[..length]);
                self.held = held;
                self.held.advance(length);
            }
        }
        Ok(())
    }

    fn enter(&mut self, next: State) {
        self.begun = true;
        self.state = next;
    }

    /// How many of the bytes belong to the body.
    fn pass_body(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        match &mut self.state {
            State::Head => Ok(0),
            State::Open => Ok(bytes.len()),
            State::Body(left) => {
                let step = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                *left -= step as u64;
                if *left == 0 {
                    self.state = State::Head;
                }
                Ok(step)
            }
            State::Chunked(chunks) => {
                let (step, ends) = chunks.pass(bytes)?;
                if ends {
                    self.state = State::Head;
                }
                Ok(step)
            }
        }
    }
}

/// Empty lines in front of a request line are allowed and mean nothing.
fn empty_lines(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|byte| matches!(byte, b'\r' | b'\n'))
        .count()
}

/// Where the head ends, its empty line included.
fn end_of_head(bytes: &[u8], from: usize) -> Option<usize> {
    memchr_iter(b'\n', &bytes[from..]).find_map(|at| {
        let next = from + at + 1;
        match bytes.get(next..)? {
            [b'\n', ..] => Some(next + 1),
            [b'\r', b'\n', ..] => Some(next + 2),
            _ => None,
        }
    })
}

fn check_size(head: &[u8]) -> Result<(), Refused> {
    let reason = match memchr(b'\n', head) {
        None if head.len() > LONGEST_TARGET => Reason::TargetTooLong,
        _ if head.len() > LONGEST_HEAD => Reason::HeadTooLarge,
        _ => return Ok(()),
    };
    Err(Refused::of(reason, head))
}

#[cfg(test)]
mod tests {
    use super::super::head::MOST_HEADERS;
    use super::*;
    use proptest::prelude::*;

    /// Feeds the stream in pieces and returns what came out.
    fn through(stream: &[u8], piece: usize) -> Result<Vec<u8>, End> {
        let (passed, end) = until_the_end(stream, piece);
        end.map_or(Ok(passed), Err)
    }

    /// The same for streams that may end early.
    fn until_the_end(stream: &[u8], piece: usize) -> (Vec<u8>, Option<End>) {
        let mut framer = Framer::new();
        let mut passed = Vec::new();
        for read in stream.chunks(piece.max(1)) {
            let mut out = BytesMut::new();
            let (as_it_is, end) = framer.take(read, &mut out);
            passed.extend_from_slice(&read[..as_it_is]);
            passed.extend_from_slice(&out);
            if end.is_some() {
                return (passed, end);
            }
        }
        (passed, None)
    }

    fn reason(stream: &str) -> Option<Reason> {
        match until_the_end(stream.as_bytes(), 1000).1? {
            End::Refused(refused) => Some(refused.reason),
            End::BrokenBody => None,
        }
    }

    fn text(stream: &str) -> String {
        String::from_utf8(through(stream.as_bytes(), usize::MAX).unwrap()).unwrap()
    }

    #[test]
    fn what_clients_forget_to_encode_is_encoded() {
        assert_eq!(
            text("GET /t?select=data->>a&or=(n.eq.\"x\")&b=eq.<é#> HTTP/1.1\r\nHost: \"<é>\"\r\n\r\n"),
            "GET /t?select=data-%3E%3Ea&or=(n.eq.%22x%22)&b=eq.%3C%C3%A9%23%3E HTTP/1.1\r\nHost: \"<é>\"\r\n\r\n"
        );
        assert_eq!(
            text("GET /t\u{eb}st%20{x} HTTP/1.1\r\nHost: x\r\n\r\n"),
            "GET /t%C3%ABst%20%7Bx%7D HTTP/1.1\r\nHost: x\r\n\r\n"
        );
    }

    #[test]
    fn bodies_are_never_touched_and_the_next_request_is_found() {
        let first = "POST /t HTTP/1.1\r\nHost: x\r\nContent-Length: 24\r\n\r\nGET /<> HTTP/1.1\r\n\r\nmore";
        let chunked = "POST /t HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
                       9;a=b\r\nGET /<>\r\n\r\n0\r\n\r\n";
        let second = "\r\nPOST /t?a=> HTTP/1.1\r\nHost: x\r\ncontent-length: 2\r\n\r\n<>";
        let third = "GET /t?\" HTTP/1.1\nHost: x\n\n";

        for piece in [1, 2, 7, 40, 1000] {
            let out = through(format!("{first}{chunked}{second}{third}").as_bytes(), piece).unwrap();
            let out = String::from_utf8(out).unwrap();

            assert!(out.starts_with(&format!("{first}{chunked}")), "{out}");
            assert!(
                out.contains("POST /t?a=%3E HTTP/1.1\r\nHost: x\r\ncontent-length: 2\r\n\r\n<>"),
                "{out}"
            );
            assert!(out.ends_with("GET /t?%22 HTTP/1.1\nHost: x\n\n"), "{out}");
        }
    }

    #[test]
    fn after_an_upgrade_everything_passes() {
        for head in [
            "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: WebSocket",
            "CONNECT x:1 HTTP/1.1\r\nHost: x",
        ] {
            let stream = format!("{head}\r\n\r\nGET /<> HTTP/1.1\r\n\r\n");
            assert_eq!(text(&stream), stream);
        }
        // an upgrade that nobody here knows is none
        let h2c = "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n\r\n";
        assert_eq!(
            text(&format!("{h2c}GET /<> HTTP/1.1\r\nHost: x\r\n\r\n")),
            format!("{h2c}GET /%3C%3E HTTP/1.1\r\nHost: x\r\n\r\n")
        );
    }

    #[test]
    fn gw_049_what_two_readers_could_read_differently_is_refused() {
        for head in [
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x1",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \u{b}chunked",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked",
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked",
            "POST / HTTP/1.0\r\nA: b",
            "GET / HTTP/1.1\r\nA: b",
            "GET / HTTP/1.1\r\nHost: x\r\nHost: y",
            "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n folded",
            "GET / HTTP/1.1\r\nHost: x\r\nA: b\rC: d",
            "GET / HTTP/1.1\r\nHost: x\r\nA\0: b",
            "GET  / HTTP/1.1\r\nHost: x",
            "GET http://<> HTTP/1.1\r\nHost: x",
            "GET / HTTP/2.0\r\nHost: x",
            "GET /",
        ] {
            assert_eq!(
                reason(&format!("{head}\r\n\r\n")),
                Some(Reason::Malformed),
                "{head}"
            );
        }
    }

    #[test]
    fn gw_049_a_broken_body_ends_the_stream_without_a_second_answer() {
        let head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        for piece in [1, 1000] {
            let (passed, end) = until_the_end(format!("{head}z\r\n").as_bytes(), piece);

            assert_eq!(passed, head.as_bytes(), "the server has its words for it");
            assert_eq!(end, Some(End::BrokenBody));
        }
    }

    #[test]
    fn gw_049_heads_beyond_the_limits_are_refused() {
        let long = "x".repeat(LONGEST_TARGET + 1);
        assert_eq!(
            reason(&format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n")),
            Some(Reason::TargetTooLong)
        );
        assert_eq!(reason(&format!("GET /{long}")), Some(Reason::TargetTooLong));
        let many = "A: b\r\n".repeat(MOST_HEADERS + 1);
        assert_eq!(
            reason(&format!("GET / HTTP/1.1\r\n{many}\r\n")),
            Some(Reason::HeadTooLarge)
        );
        let large = "x".repeat(LONGEST_HEAD);
        assert_eq!(
            reason(&format!("GET / HTTP/1.1\r\nA: {large}")),
            Some(Reason::HeadTooLarge)
        );
        let invalid = b"GET /rest/v1/t?a=\xff HTTP/1.1\r\nHost: x\r\n\r\n";
        assert_eq!(
            through(invalid, 5),
            Err(End::Refused(Refused::of(
                Reason::Malformed,
                b"GET /rest/v1/t HTTP/1.1"
            )))
        );
    }

    #[test]
    fn requests_in_front_of_a_refused_one_still_pass() {
        let good = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
        for piece in [1, 1000] {
            let (passed, end) = until_the_end(format!("{good}GET /\0 HTTP/1.1\r\n\r\n").as_bytes(), piece);

            assert_eq!(passed, good.as_bytes());
            assert!(matches!(end, Some(End::Refused(_))), "{end:?}");
        }
    }

    #[test]
    fn it_is_known_when_more_must_come() {
        let mut framer = Framer::new();
        let mut waits = |bytes: &str| {
            let _ = framer.take(bytes.as_bytes(), &mut BytesMut::new());
            (
                framer.is_waiting(),
                framer.is_in_head(),
                framer.give_up().is_some(),
            )
        };

        assert_eq!(waits(""), (true, true, false));
        assert_eq!(waits("GET / HTTP/1.1\r\n"), (true, true, true));
        assert_eq!(waits("Host: x\r\n\r\n"), (false, true, false));
        assert_eq!(
            waits("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"),
            (true, false, false)
        );
        assert_eq!(waits("xy"), (false, true, false));
    }

    proptest! {
        #[test]
        fn streams_without_targets_to_rewrite_pass_as_they_are(
            paths in prop::collection::vec("/[a-z0-9?=&%.,()*]{0,40}", 1..5),
            bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 5),
            piece in 1usize..300,
        ) {
            let mut stream = Vec::new();
            for (path, body) in paths.iter().zip(&bodies) {
                stream.extend_from_slice(
                    format!("PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(),
                );
                stream.extend_from_slice(body);
            }

            prop_assert_eq!(through(&stream, piece).unwrap(), stream);
        }

        #[test]
        fn any_bytes_in_any_pieces_are_handled(stream in prop::collection::vec(any::<u8>(), 0..400), piece in 1usize..50) {
            let _ = through(&stream, piece);
        }

        #[test]
        fn pieces_make_no_difference(
            target in "\\PC{0,30}", length in 0usize..40, rest in "\\PC{0,60}", piece in 1usize..60,
        ) {
            let stream = format!("GET /{target} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{rest}");

            let whole = through(stream.as_bytes(), usize::MAX);
            let pieces = through(stream.as_bytes(), piece);

            prop_assert_eq!(whole.is_ok(), pieces.is_ok());
            if let (Ok(whole), Ok(pieces)) = (whole, pieces) {
                prop_assert_eq!(whole, pieces);
            }
        }
    }
}
