//! Finds where requests begin and end in a byte stream. Does no I/O.
//!
//! It parses only what is needed to find the next request line with certainty. What two parsers could understand
//! differently is refused (request smuggling). After an upgrade, bytes pass through unparsed.

use std::sync::Arc;

use bytes::{Buf, BytesMut};
use memchr::{memchr, memchr_iter};

use super::chunks::MalformedChunk;
use super::head::{Head, LONGEST_HEAD, LONGEST_TARGET};
use super::refusal::{Reason, Refused};
use super::state::State;
use crate::listener::local_hosts::LocalHosts;

/// Why reading stops here.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StopReason {
    /// A request is refused with a response of ours.
    Refused(Refused),
    /// The body is malformed after its head was forwarded: actix answers the 400.
    BrokenBody,
}

impl From<Refused> for StopReason {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<MalformedChunk> for StopReason {
    fn from(_: MalformedChunk) -> Self {
        Self::BrokenBody
    }
}

/// Follows the requests of one connection.
#[derive(Debug)]
pub(super) struct Framer {
    state: State,
    /// The beginning of a head whose end is still to come.
    held: BytesMut,
    /// Bytes of `held` that were searched for the end of the head.
    searched: usize,
    /// Whether the connection has sent a complete head.
    begun: bool,
    /// Whether a head may be forwarded. After it the next one is held until this is set again.
    passes_head: bool,
    /// Whether bytes are held because no head may be forwarded.
    is_held_back: bool,
    /// The only hosts to which requests may be sent; any if `None`.
    hosts: Option<Arc<LocalHosts>>,
}

impl Framer {
    pub(super) fn new(hosts: Option<Arc<LocalHosts>>) -> Self {
        Self {
            hosts,
            state: State::Head,
            held: BytesMut::new(),
            searched: 0,
            begun: false,
            passes_head: true,
            is_held_back: false,
        }
    }

    /// Whether the client must send more: the rest of a head or body, or its first request.
    pub(super) fn is_waiting(&self) -> bool {
        match self.state {
            State::Head => !self.begun || !self.held.is_empty(),
            State::Body(_) | State::Chunked(_) => true,
            State::Upgraded => false,
        }
    }

    /// Whether the next byte belongs to a head.
    pub(super) fn is_in_head(&self) -> bool {
        self.state == State::Head
    }

    /// Bytes of a head whose end is still to come.
    pub(super) fn held_head(&self) -> usize {
        match self.state {
            State::Head if !self.is_held_back => self.held.len(),
            _ => 0,
        }
    }

    /// Lets the next head be forwarded.
    pub(super) fn pass_next_head(&mut self) {
        self.passes_head = true;
    }

    /// Whether a head was forwarded since the last [`Framer::pass_next_head`].
    pub(super) fn has_passed_head(&self) -> bool {
        !self.passes_head
    }

    /// Whether bytes are held because no head may be forwarded. They are processed by an empty input once one may.
    pub(super) fn is_held_back(&self) -> bool {
        self.is_held_back
    }

    /// The 431 for a head for which there is no memory.
    pub(super) fn refuse_large_head(&self) -> Refused {
        Refused::from_head(Reason::HeadTooLarge, &self.held)
    }

    /// The 408 for a head that takes too long. `None` if the client has sent nothing: the connection is just closed.
    pub(super) fn refuse_slow_head(&self) -> Option<Refused> {
        (!self.held.is_empty()).then(|| Refused::from_head(Reason::HeadTooSlow, &self.held))
    }

    /// Processes what was read. Returns how many bytes at its front are forwarded as they are. The others are kept or
    /// rewritten; `out` receives what is forwarded in their place. With a `StopReason`, nothing after it is forwarded.
    pub(super) fn process_input(&mut self, read: &[u8], out: &mut BytesMut) -> (usize, Option<StopReason>) {
        let mut passed = 0;
        if self.held.is_empty()
            && let Err(MalformedChunk) = self.forward_unchanged(read, &mut passed)
        {
            return (passed, Some(StopReason::BrokenBody));
        }
        if passed == read.len() && self.held.is_empty() {
            return (passed, None);
        }
        self.held.extend_from_slice(&read[passed..]);
        (passed, self.forward_held(out).err())
    }

    /// Fast path: complete heads that need no rewriting, and bodies, are forwarded without a copy.
    fn forward_unchanged(&mut self, read: &[u8], passed: &mut usize) -> Result<(), MalformedChunk> {
        while *passed < read.len() {
            if self.state == State::Head {
                if !self.passes_head {
                    break;
                }
                let rest = &read[*passed..];
                let Ok(Some(end)) = find_head_end(rest, 0) else {
                    break;
                };
                // Empty lines before a request are dropped, which `forward_held` does.
                if rest[0] == b'\r' {
                    break;
                }
                // The bytes before a head that must be rewritten or refused are forwarded first; `forward_held` then reads that head again.
                match Head::read(&rest[..end], self.hosts.as_deref()) {
                    Ok(head) if head.target.is_none() => self.enter_state(head.next),
                    _ => break,
                }
                *passed += end;
            } else {
                *passed += self.pass_body(&read[*passed..])?;
            }
        }
        Ok(())
    }

    /// Processes the held bytes: rewrites complete heads and forwards bodies into `out`.
    fn forward_held(&mut self, out: &mut BytesMut) -> Result<(), StopReason> {
        while !self.held.is_empty() {
            if self.state == State::Head {
                self.is_held_back = !self.passes_head;
                if self.is_held_back {
                    return Ok(());
                }
                // RFC 9112 §2.2: empty lines before a request line are ignored.
                if self.held.starts_with(EMPTY_LINE) {
                    self.held.advance(EMPTY_LINE.len());
                    self.searched = 0;
                    continue;
                }
                let end = find_head_end(&self.held, self.searched);
                let Some(end) = end.map_err(|reason| Refused::from_head(reason, &self.held))? else {
                    // Of the four bytes at the end of a head, three may have been received already.
                    self.searched = self.held.len().saturating_sub(3);
                    return Ok(());
                };
                self.searched = 0;
                let head = Head::read(&self.held[..end], self.hosts.as_deref())?;
                head.write(&self.held[..end], out);
                self.enter_state(head.next);
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

    fn enter_state(&mut self, next: State) {
        self.begun = true;
        self.passes_head = false;
        self.state = next;
    }

    /// Advances through the body. Returns how many of the bytes belong to it.
    fn pass_body(&mut self, bytes: &[u8]) -> Result<usize, MalformedChunk> {
        match &mut self.state {
            State::Head => Ok(0),
            State::Upgraded => Ok(bytes.len()),
            State::Body(left) => {
                let step = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                *left -= step as u64;
                if *left == 0 {
                    self.state = State::Head;
                }
                Ok(step)
            }
            State::Chunked(chunks) => {
                let (step, ends) = chunks.advance(bytes)?;
                if ends {
                    self.state = State::Head;
                }
                Ok(step)
            }
        }
    }
}

/// A line without content.
const EMPTY_LINE: &[u8] = b"\r\n";

/// The length of the head including its empty line. `None` while it is incomplete. Lines are searched from `from` on.
///
/// Errors are found in the order of the bytes, so that the same bytes are refused for the same reason whether they
/// arrive together or one by one: a first line that is too long, a line that does not end in CR LF, a head that is too
/// large.
fn find_head_end(bytes: &[u8], from: usize) -> Result<Option<usize>, Reason> {
    let mut is_first_line = memchr(b'\n', &bytes[..from]).is_none();
    for at in memchr_iter(b'\n', &bytes[from..]).map(|at| from + at) {
        if is_first_line && at > LONGEST_TARGET {
            return Err(Reason::TargetTooLong);
        }
        is_first_line = false;
        if at >= LONGEST_HEAD {
            return Err(Reason::HeadTooLarge);
        }
        let line = &bytes[..at];
        if line.last() != Some(&b'\r') {
            return Err(Reason::Malformed);
        }
        if line.ends_with(b"\r\n\r") {
            return Ok(Some(at + 1));
        }
    }
    if is_first_line && bytes.len() > LONGEST_TARGET {
        return Err(Reason::TargetTooLong);
    }
    if bytes.len() > LONGEST_HEAD {
        return Err(Reason::HeadTooLarge);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::super::head::MOST_HEADERS;
    use super::*;
    use proptest::prelude::*;

    /// Feeds the stream in pieces and returns what came out.
    fn feed_in_pieces(stream: &[u8], piece: usize) -> Result<Vec<u8>, StopReason> {
        let (passed, end) = feed_until_stop(stream, piece);
        end.map_or(Ok(passed), Err)
    }

    /// The same for streams that may end early.
    fn feed_until_stop(stream: &[u8], piece: usize) -> (Vec<u8>, Option<StopReason>) {
        let mut framer = Framer::new(None);
        let mut passed = Vec::new();
        for read in stream.chunks(piece.max(1)) {
            let mut out = BytesMut::new();
            let (as_it_is, mut end) = framer.process_input(read, &mut out);
            passed.extend_from_slice(&read[..as_it_is]);
            while end.is_none() && framer.is_held_back() {
                framer.pass_next_head();
                end = framer.process_input(&[], &mut out).1;
            }
            passed.extend_from_slice(&out);
            if end.is_some() {
                return (passed, end);
            }
        }
        (passed, None)
    }

    fn reason(stream: &str) -> Option<Reason> {
        match feed_until_stop(stream.as_bytes(), 1000).1? {
            StopReason::Refused(refused) => Some(refused.reason),
            StopReason::BrokenBody => None,
        }
    }

    fn text(stream: &str) -> String {
        String::from_utf8(feed_in_pieces(stream.as_bytes(), usize::MAX).unwrap()).unwrap()
    }

    #[test]
    fn unencoded_characters_in_the_target_are_encoded() {
        assert_eq!(
            text(
                "GET /t?select=data->>a&or=(n.eq.\"x\")&b=eq.<é#> HTTP/1.1\r\nHost: x\r\nA: \"<é>\"\r\n\r\n"
            ),
            "GET /t?select=data-%3E%3Ea&or=(n.eq.%22x%22)&b=eq.%3C%C3%A9%23%3E HTTP/1.1\r\nHost: x\r\nA: \"<é>\"\r\n\r\n"
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
        let third = "GET /t?\" HTTP/1.1\r\nHost: x\r\n\r\n";

        for piece in [1, 2, 7, 40, 1000] {
            let out = feed_in_pieces(format!("{first}{chunked}{second}{third}").as_bytes(), piece).unwrap();
            let out = String::from_utf8(out).unwrap();

            assert!(out.starts_with(&format!("{first}{chunked}")), "{out}");
            assert!(
                out.contains("POST /t?a=%3E HTTP/1.1\r\nHost: x\r\ncontent-length: 2\r\n\r\n<>"),
                "{out}"
            );
            assert!(out.ends_with("GET /t?%22 HTTP/1.1\r\nHost: x\r\n\r\n"), "{out}");
        }
    }

    #[test]
    fn after_an_upgrade_everything_passes() {
        let handshake = "GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket";
        let stream = format!("{handshake}\r\n\r\nGET /<> HTTP/1.1\r\n\r\n");
        assert_eq!(text(&stream), stream);
        // an upgrade to an unknown protocol is ignored
        let h2c = "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n\r\n";
        assert_eq!(
            text(&format!("{h2c}GET /<> HTTP/1.1\r\nHost: x\r\n\r\n")),
            format!("{h2c}GET /%3C%3E HTTP/1.1\r\nHost: x\r\n\r\n")
        );
    }

    #[test]
    fn gw_049_requests_that_parsers_could_read_differently_are_refused() {
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
            "GET / HTTP/1.1\r\nHost: x y",
            "GET / HTTP/1.1\r\nHost: <x>",
            "GET / HTTP/1.1\r\nHost: x:y",
            "GET / HTTP/1.1\r\nHost: user@x",
            "GET / HTTP/1.1\r\nHost: http://x/",
            "GET / HTTP/1.1\r\nHost: [::1",
            "GET / HTTP/1.1\r\nHost: [x]",
            "GET / HTTP/1.1\nHost: x",
            "GET / HTTP/1.1\r\nHost: x\nA: b",
            "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket",
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 1",
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked",
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
    fn gw_049_connect_is_refused_at_once() {
        assert_eq!(
            reason("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"),
            Some(Reason::Connect)
        );
    }

    #[test]
    fn gw_049_hosts_are_names_or_addresses_with_a_port() {
        for host in [
            "x",
            "a-b.example:80",
            "127.0.0.1:54321",
            "[::1]:54321",
            "[::1]",
            "x:",
            "_x",
            "",
        ] {
            let stream = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
            assert_eq!(text(&stream), stream);
        }
    }

    #[test]
    fn gw_049_with_local_hosts_requests_for_others_are_refused() {
        for (head, is_local) in [
            ("GET / HTTP/1.1\r\nHost: localhost:1", true),
            ("GET / HTTP/1.1\r\nHost: evil.example", false),
            ("GET http://evil.example/ HTTP/1.1\r\nHost: localhost", false),
            ("GET http://localhost/ HTTP/1.1\r\nHost: evil.example", true),
        ] {
            let mut framer = Framer::new(Some(Arc::default()));
            let (_, end) = framer.process_input(format!("{head}\r\n\r\n").as_bytes(), &mut BytesMut::new());

            assert_eq!(end.is_none(), is_local, "{head}");
        }
    }

    #[test]
    fn gw_049_empty_lines_are_dropped_and_do_not_count_as_a_request() {
        for piece in [1, 2, 3, 1000] {
            let mut framer = Framer::new(None);
            for part in b"\r\n\r\n\r\n".chunks(piece) {
                let mut out = BytesMut::new();
                assert_eq!(framer.process_input(part, &mut out), (0, None));
                assert!(out.is_empty() && framer.is_waiting() && framer.is_in_head());
            }
            let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
            assert_eq!(
                feed_in_pieces(format!("\r\n\r\n{get}\r\n{get}").as_bytes(), piece).unwrap(),
                format!("{get}{get}").as_bytes()
            );
        }
    }

    #[test]
    fn gw_049_a_malformed_body_ends_the_stream_without_a_second_response() {
        let head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        for piece in [1, 1000] {
            let (passed, end) = feed_until_stop(format!("{head}z\r\n").as_bytes(), piece);

            assert_eq!(passed, head.as_bytes(), "the server has its words for it");
            assert_eq!(end, Some(StopReason::BrokenBody));
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
            feed_in_pieces(invalid, 5),
            Err(StopReason::Refused(Refused::from_head(
                Reason::Malformed,
                b"GET /rest/v1/t HTTP/1.1"
            )))
        );
    }

    #[test]
    fn requests_in_front_of_a_refused_one_still_pass() {
        let good = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
        for piece in [1, 1000] {
            let (passed, end) = feed_until_stop(format!("{good}GET /\0 HTTP/1.1\r\n\r\n").as_bytes(), piece);

            assert_eq!(passed, good.as_bytes());
            assert!(matches!(end, Some(StopReason::Refused(_))), "{end:?}");
        }
    }

    #[test]
    fn is_waiting_is_true_while_a_head_or_body_is_incomplete() {
        let mut framer = Framer::new(None);
        let mut waits = |bytes: &str| {
            framer.pass_next_head();
            let _ = framer.process_input(bytes.as_bytes(), &mut BytesMut::new());
            (
                framer.is_waiting(),
                framer.is_in_head(),
                framer.refuse_slow_head().is_some(),
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

            prop_assert_eq!(feed_in_pieces(&stream, piece).unwrap(), stream);
        }

        #[test]
        fn any_bytes_in_any_pieces_are_handled(stream in prop::collection::vec(any::<u8>(), 0..400), piece in 1usize..50) {
            let _ = feed_in_pieces(&stream, piece);
        }

        #[test]
        fn the_result_does_not_depend_on_how_the_input_is_split(
            stream in prop::collection::vec(prop::sample::select(PARTS), 0..12).prop_map(|parts| parts.concat()),
            target in "\\PC{0,30}", rest in "\\PC{0,60}", piece in 1usize..60, length in 0usize..40,
        ) {
            let request = format!("GET /{target} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{rest}");
            for stream in [stream, request] {
                let (whole, end) = feed_until_stop(stream.as_bytes(), usize::MAX);
                let (pieces, end_of_pieces) = feed_until_stop(stream.as_bytes(), piece);

                prop_assert_eq!(&end, &end_of_pieces, "{:?}", stream);
                // Of a malformed body, what came before the malformed byte may have been passed on already.
                if end == Some(StopReason::BrokenBody) {
                    prop_assert!(pieces.starts_with(&whole), "{:?}", stream);
                } else {
                    prop_assert_eq!(whole, pieces, "{:?}", stream);
                }
            }
        }
    }

    /// Parts of streams in which requests, bodies, empty lines and mistakes follow each other in many ways.
    const PARTS: &[&str] = &[
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /<> HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\n\n",
        "GET / HTTP/1.1\r\n",
        "Host: x\r\n",
        "\r\n",
        "\n",
        "\r",
        "x",
        "hello",
        "5\r\nhello\r\n",
        "0\r\n\r\n",
    ];
}
