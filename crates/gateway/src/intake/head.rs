//! What the head of a request says about the stream, and what its target should have looked like. Pure.

use actix_web::http::Uri;
use bytes::BytesMut;
use httparse::{EMPTY_HEADER, Request, Status};
use memchr::memchr;

use super::chunks::Chunks;
use super::framing::State;
use super::refusal::{Reason, Refused};

/// Longest head of a request. The server behind gives up a little later.
pub(super) const LONGEST_HEAD: usize = 120 * 1024;
/// Longest target, encoded; what the URI type behind can hold.
pub(super) const LONGEST_TARGET: usize = 65_000;
/// Most header lines, as many as the server behind can hold.
pub(super) const MOST_HEADERS: usize = 96;

/// A whole head.
pub(super) struct Head {
    /// The target, if it has to be written differently.
    pub(super) target: Option<Vec<u8>>,
    /// What follows.
    pub(super) next: State,
}

impl Head {
    /// Reads a head, its empty line included.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Refused> {
        let refused = |reason| Refused::of(reason, bytes);
        let mut headers = [EMPTY_HEADER; MOST_HEADERS];
        let mut request = Request::new(&mut headers);
        match request.parse(bytes) {
            Ok(Status::Complete(length)) if length == bytes.len() => {}
            Err(httparse::Error::TooManyHeaders) => return Err(refused(Reason::HeadTooLarge)),
            // also where the parser sees another end than we do: there must be only one
            Ok(_) | Err(_) => return Err(refused(Reason::Malformed)),
        }
        if bytes.len() > LONGEST_HEAD {
            return Err(refused(Reason::HeadTooLarge));
        }
        let target = request.path.unwrap_or_default();
        let encoded = if target.starts_with('/') {
            encoded(target)
        } else if target.parse::<Uri>().is_err() {
            return Err(refused(Reason::Malformed));
        } else {
            None
        };
        if encoded.as_ref().map_or(target.len(), Vec::len) > LONGEST_TARGET {
            return Err(refused(Reason::TargetTooLong));
        }
        let next = body_of(&request).ok_or_else(|| refused(Reason::Malformed))?;
        Ok(Self {
            target: encoded,
            next,
        })
    }

    /// Writes the head as it should have been.
    pub(super) fn write(&self, bytes: &[u8], out: &mut BytesMut) {
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

/// What follows a head; `None` where two readers could disagree about it, or no host is named where one must be.
/// The server behind would refuse the same, without a word.
fn body_of(request: &Request<'_, '_>) -> Option<State> {
    let mut length = None;
    let mut chunked = false;
    let mut upgrades = false;
    let mut has_host = false;
    for header in request.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let says = |value: &str| header.value.trim_ascii().eq_ignore_ascii_case(value.as_bytes());
        if is("content-length") {
            let digits = std::str::from_utf8(header.value).ok()?.trim();
            if length.is_some() || digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            length = Some(digits.parse::<u64>().ok()?);
        } else if is("transfer-encoding") {
            if chunked || !says("chunked") || request.version != Some(1) {
                return None;
            }
            chunked = true;
        } else if is("host") {
            if has_host {
                return None;
            }
            has_host = true;
        } else if is("upgrade") {
            upgrades |= says("websocket");
        }
    }
    let is_old = request.version == Some(0);
    if (chunked && length.is_some())
        || !(has_host || is_old)
        || (is_old && request.method == Some("POST") && length.is_none())
    {
        return None;
    }
    Some(match length {
        _ if chunked => State::Chunked(Chunks::new()),
        _ if upgrades || request.method == Some("CONNECT") => State::Open,
        None | Some(0) => State::Head,
        Some(length) => State::Body(length),
    })
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
