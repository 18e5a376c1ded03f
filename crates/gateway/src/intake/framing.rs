//! Where requests begin and end in a stream of bytes, and what their targets should have looked like. Pure.
//!
//! Only as much of HTTP/1.1 is understood as is needed to find the next request line with certainty. Wherever there
//! is doubt (chunked bodies, upgrades, contradicting lengths) the rest of the connection passes untouched, so that no
//! two readers of the stream can ever disagree about where a request begins.

use bytes::{Buf, BytesMut};
use httparse::{EMPTY_HEADER, Request, Status};
use memchr::{memchr, memchr_iter};

/// Longest head of a request. The server behind gives up a little later.
const LONGEST_HEAD: usize = 120 * 1024;
/// Longest target, encoded; what the URI type behind can hold.
const LONGEST_TARGET: usize = 65_000;
/// Most header lines, as many as the server behind can hold.
const MOST_HEADERS: usize = 96;

/// Why a request gets no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    TargetTooLong,
    HeadTooLarge,
    Malformed,
}

/// A request that gets no further, with the path it asked for as far as that can be told.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) reason: Reason,
    pub(super) path: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before or in a request's head.
    Head,
    /// In a body with this many bytes to come.
    Body(u64),
    /// Bytes are nobody's business any more.
    Open,
}

/// Follows one connection.
#[derive(Debug)]
pub(super) struct Framer {
    state: State,
    /// The beginning of a head whose end is still to come.
    held: BytesMut,
    /// How much of it was searched for its end.
    searched: usize,
}

impl Framer {
    pub(super) fn new() -> Self {
        Self {
            state: State::Head,
            held: BytesMut::new(),
            searched: 0,
        }
    }

    /// Takes note of what was read. Says how many bytes at its front pass as they are; the others have been taken,
    /// and `out` is what to pass instead, as soon as there is anything to pass.
    pub(super) fn take(&mut self, read: &[u8], out: &mut BytesMut) -> Result<usize, Refused> {
        let passed = if self.held.is_empty() { self.pass(read)? } else { 0 };
        if passed < read.len() {
            self.held.extend_from_slice(&read[passed..]);
            self.release(out)?;
        }
        Ok(passed)
    }

    /// The rule: whole heads without anything to rewrite, and bodies. Nothing is copied.
    fn pass(&mut self, read: &[u8]) -> Result<usize, Refused> {
        let mut at = 0;
        while at < read.len() {
            match self.state {
                State::Open => return Ok(read.len()),
                State::Body(left) => {
                    let step = shorter(left, read.len() - at);
                    at += step;
                    self.leave_body(left, step);
                }
                State::Head => {
                    at += empty_lines(&read[at..]);
                    let rest = &read[at..];
                    let Some(end) = end_of_head(rest, 0) else {
                        break;
                    };
                    let head = Head::read(&rest[..end])?;
                    if head.target.is_some() {
                        break;
                    }
                    self.state = head.next;
                    at += end;
                }
            }
        }
        Ok(at)
    }

    fn release(&mut self, out: &mut BytesMut) -> Result<(), Refused> {
        while !self.held.is_empty() {
            match self.state {
                State::Open => {
                    out.extend_from_slice(&self.held);
                    self.held.clear();
                }
                State::Body(left) => {
                    let step = shorter(left, self.held.len());
                    out.extend_from_slice(&self.held[..step]);
                    self.held.advance(step);
                    self.leave_body(left, step);
                }
                State::Head => {
                    self.held.advance(empty_lines(&self.held));
                    let Some(end) = end_of_head(&self.held, self.searched) else {
                        self.searched = self.held.len().saturating_sub(2);
                        return check_size(&self.held);
                    };
                    self.searched = 0;
                    let head = Head::read(&self.held[..end])?;
                    head.write(&self.held[..end], out);
                    self.state = head.next;
                    self.held.advance(end);
                }
            }
        }
        Ok(())
    }

    fn leave_body(&mut self, left: u64, step: usize) {
        self.state = match left - step as u64 {
            0 => State::Head,
            more => State::Body(more),
        };
    }
}

fn shorter(left: u64, available: usize) -> usize {
    usize::try_from(left).map_or(available, |left| left.min(available))
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
    Err(refused(reason, head))
}

/// The path stands between the first blank and a `?` or the second blank.
fn refused(reason: Reason, head: &[u8]) -> Refused {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let target = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
    Refused {
        reason,
        path: String::from_utf8_lossy(&path[..path.len().min(64)]).into_owned(),
    }
}

/// What a head says about the stream.
struct Head {
    /// The target, if it has to be written differently.
    target: Option<Vec<u8>>,
    next: State,
}

impl Head {
    fn read(bytes: &[u8]) -> Result<Self, Refused> {
        let mut headers = [EMPTY_HEADER; MOST_HEADERS];
        let mut request = Request::new(&mut headers);
        match request.parse(bytes) {
            Ok(Status::Complete(length)) if length == bytes.len() => {}
            // Somebody who reads heads differently: let them.
            Ok(_) => {
                return Ok(Self {
                    target: None,
                    next: State::Open,
                });
            }
            Err(httparse::Error::TooManyHeaders) => return Err(refused(Reason::HeadTooLarge, bytes)),
            Err(_) => return Err(refused(Reason::Malformed, bytes)),
        }
        if bytes.len() > LONGEST_HEAD {
            return Err(refused(Reason::HeadTooLarge, bytes));
        }
        let target = request.path.unwrap_or_default();
        let encoded = target.starts_with('/').then(|| encoded(target)).flatten();
        if encoded.as_ref().map_or(target.len(), Vec::len) > LONGEST_TARGET {
            return Err(refused(Reason::TargetTooLong, bytes));
        }
        Ok(Self {
            target: encoded,
            next: body_of(&request),
        })
    }

    fn write(&self, bytes: &[u8], out: &mut BytesMut) {
        let place = self.target.as_ref().and_then(|target| {
            let start = memchr(b' ', bytes)? + 1;
            let end = start + memchr(b' ', &bytes[start..])?;
            Some((start, target, end))
        });
        match place {
            Some((start, target, end)) => {
                out.extend_from_slice(&bytes[..start]);
                out.extend_from_slice(target);
                out.extend_from_slice(&bytes[end..]);
            }
            None => out.extend_from_slice(bytes),
        }
    }
}

/// What follows a head.
fn body_of(request: &Request<'_, '_>) -> State {
    let mut length = None;
    for header in request.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("transfer-encoding") || is("upgrade") {
            return State::Open;
        }
        if is("content-length") {
            let digits = std::str::from_utf8(header.value).unwrap_or_default().trim();
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            match digits.parse() {
                Ok(number) if is_number && length.is_none() => length = Some(number),
                _ => return State::Open,
            }
        }
    }
    match length {
        _ if request.method == Some("CONNECT") => State::Open,
        None | Some(0) => State::Head,
        Some(length) => State::Body(length),
    }
}

/// The target with everything percent-encoded that must be but that clients send as it is; `None` if nothing is.
fn encoded(target: &str) -> Option<Vec<u8>> {
    if target.bytes().all(may_stand) {
        return None;
    }
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = Vec::with_capacity(target.len() + 32);
    for byte in target.bytes() {
        if may_stand(byte) {
            out.push(byte);
        } else {
            out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
    Some(out)
}

/// What the server behind accepts in paths and in queries.
fn may_stand(byte: u8) -> bool {
    matches!(byte, b'!' | b'$'..=b';' | b'=' | b'?'..=b'_' | b'a'..=b'z' | b'|' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Feeds the stream in pieces and returns what came out.
    fn through(stream: &[u8], piece: usize) -> Result<Vec<u8>, Refused> {
        let mut framer = Framer::new();
        let mut passed = Vec::new();
        for read in stream.chunks(piece.max(1)) {
            let mut out = BytesMut::new();
            let as_it_is = framer.take(read, &mut out)?;
            passed.extend_from_slice(&read[..as_it_is]);
            passed.extend_from_slice(&out);
        }
        Ok(passed)
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
            text("GET /t\u{eb}st%20{x} HTTP/1.1\r\n\r\n"),
            "GET /t%C3%ABst%20%7Bx%7D HTTP/1.1\r\n\r\n"
        );
    }

    #[test]
    fn bodies_are_never_touched_and_the_next_request_is_found() {
        let first = "POST /t HTTP/1.1\r\nContent-Length: 24\r\n\r\nGET /<> HTTP/1.1\r\n\r\nmore";
        let second = "\r\nPOST /t?a=> HTTP/1.1\r\ncontent-length: 2\r\n\r\n<>";
        let third = "GET /t?\" HTTP/1.1\n\n";

        for piece in [1, 2, 7, 40, 1000] {
            let out = through(format!("{first}{second}{third}").as_bytes(), piece).unwrap();
            let out = String::from_utf8(out).unwrap();

            assert!(out.starts_with(first), "{out}");
            assert!(
                out.contains("POST /t?a=%3E HTTP/1.1\r\ncontent-length: 2\r\n\r\n<>"),
                "{out}"
            );
            assert!(out.ends_with("GET /t?%22 HTTP/1.1\n\n"), "{out}");
        }
    }

    #[test]
    fn where_the_next_request_begins_is_never_guessed() {
        for head in [
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
            "POST / HTTP/1.1\r\nContent-Length: +1",
            "POST / HTTP/1.1\r\nContent-Length: 1, 1",
            "GET / HTTP/1.1\r\nUpgrade: websocket",
            "CONNECT / HTTP/1.1\r\nHost: x",
        ] {
            let stream = format!("{head}\r\n\r\nGET /<> HTTP/1.1\r\n\r\n");
            assert_eq!(text(&stream), stream);
        }
    }

    #[test]
    fn gw_049_heads_beyond_the_limits_are_refused() {
        let reason = |stream: String| through(stream.as_bytes(), 1000).map_err(|refused| refused.reason);

        let long = "x".repeat(LONGEST_TARGET + 1);
        assert_eq!(
            reason(format!("GET /{long} HTTP/1.1\r\n\r\n")),
            Err(Reason::TargetTooLong)
        );
        assert_eq!(reason(format!("GET /{long}")), Err(Reason::TargetTooLong));
        let many = "A: b\r\n".repeat(MOST_HEADERS + 1);
        assert_eq!(
            reason(format!("GET / HTTP/1.1\r\n{many}\r\n")),
            Err(Reason::HeadTooLarge)
        );
        let large = "x".repeat(LONGEST_HEAD);
        assert_eq!(
            reason(format!("GET / HTTP/1.1\r\nA: {large}")),
            Err(Reason::HeadTooLarge)
        );
        assert_eq!(
            reason("GET / HTTP/1.1\r\nA\0: b\r\n\r\n".to_owned()),
            Err(Reason::Malformed)
        );
        assert_eq!(
            through(b"GET /rest/v1/t?a=\xff HTTP/1.1\r\n\r\n", 5),
            Err(Refused {
                reason: Reason::Malformed,
                path: "/rest/v1/t".to_owned()
            })
        );
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
            let stream = format!("GET /{target} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{rest}");

            let whole = through(stream.as_bytes(), usize::MAX);
            let pieces = through(stream.as_bytes(), piece);

            prop_assert_eq!(whole.is_ok(), pieces.is_ok());
            if let (Ok(whole), Ok(pieces)) = (whole, pieces) {
                prop_assert_eq!(whole, pieces);
            }
        }
    }
}
