//! Reads the head of a request: where its body ends, and its target with all characters percent-encoded. Does no I/O.

use actix_web::http::Uri;
use bytes::BytesMut;
use httparse::{EMPTY_HEADER, Header, Request, Status};
use memchr::memchr;

use super::chunks::ChunkedBody;
use super::refusal::{Reason, Refused};
use super::state::State;
use crate::listener::local_hosts::LocalHosts;

/// Longest head of a request, a little less than actix-http accepts.
pub(super) const LONGEST_HEAD: usize = 120 * 1024;
/// Longest encoded target. `http::Uri` holds 65 534 bytes.
pub(super) const LONGEST_TARGET: usize = 65_000;
/// Most header lines, as many as actix-http accepts.
pub(super) const MOST_HEADERS: usize = 96;

/// A complete head.
pub(super) struct Head {
    /// The encoded target, if it differs from the one that was sent.
    pub(super) target: Option<Vec<u8>>,
    /// The state after the head.
    pub(super) next: State,
}

impl Head {
    /// Reads a head, its empty line included. With `hosts`, only requests for those are accepted.
    pub(super) fn read(bytes: &[u8], hosts: Option<&LocalHosts>) -> Result<Self, Refused> {
        let refused = |reason| Refused::from_head(reason, bytes);
        let mut headers = [EMPTY_HEADER; MOST_HEADERS];
        let mut request = Request::new(&mut headers);
        match request.parse(bytes) {
            Ok(Status::Complete(length)) if length == bytes.len() => {}
            Err(httparse::Error::TooManyHeaders) => return Err(refused(Reason::HeadTooLarge)),
            // Also where httparse finds another end than the framer did: the end must be beyond doubt.
            Ok(_) | Err(_) => return Err(refused(Reason::Malformed)),
        }
        if request.method == Some("CONNECT") {
            return Err(refused(Reason::Connect));
        }
        let target = request.path.unwrap_or_default();
        let encoded = if target.starts_with('/') {
            encode_target(target)
        } else if target.parse::<Uri>().is_err() {
            return Err(refused(Reason::Malformed));
        } else {
            None
        };
        if encoded.as_ref().map_or(target.len(), Vec::len) > LONGEST_TARGET {
            return Err(refused(Reason::TargetTooLong));
        }
        let next = body_of(&request).ok_or_else(|| refused(Reason::Malformed))?;
        if let Some(hosts) = hosts
            && !find_host(&request, target).is_none_or(|host| hosts.is_allowed(host))
        {
            return Err(refused(Reason::ForeignHost));
        }
        Ok(Self {
            target: encoded,
            next,
        })
    }

    /// Writes the head with the encoded target.
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

/// The headers about the body, the host and an upgrade.
#[derive(Default)]
struct Framing {
    length: Option<u64>,
    is_chunked: bool,
    has_host: bool,
    asks_for_websocket: bool,
    connection_upgrades: bool,
}

impl Framing {
    /// Takes a header. `None` where two parsers could read it differently.
    fn take(&mut self, header: &Header<'_>, version: Option<u8>) -> Option<()> {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let value = header.value.trim_ascii();
        if is("content-length") {
            let digits = std::str::from_utf8(header.value).ok()?.trim();
            // A second Content-Length is refused even when it is equal; parsers differ in which one they use.
            if self.length.is_some() || digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit())
            {
                return None;
            }
            self.length = Some(digits.parse::<u64>().ok()?);
        } else if is("transfer-encoding") {
            // Repeated or other encodings, and any in HTTP/1.0 (which has none), could be read differently by other
            // parsers.
            if self.is_chunked || !value.eq_ignore_ascii_case(b"chunked") || version != Some(1) {
                return None;
            }
            self.is_chunked = true;
        } else if is("host") {
            if self.has_host || !is_authority(value) {
                return None;
            }
            self.has_host = true;
        } else if is("upgrade") {
            self.asks_for_websocket |= value.eq_ignore_ascii_case(b"websocket");
        } else if is("connection") {
            self.connection_upgrades |= value
                .split(|byte| *byte == b',')
                .any(|option| option.trim_ascii().eq_ignore_ascii_case(b"upgrade"));
        }
        Some(())
    }
}

/// Returns the state after a head. `None` where two parsers could disagree about the body's length, or the required Host
/// header is missing: actix would refuse the same with an empty response.
fn body_of(request: &Request<'_, '_>) -> Option<State> {
    let mut framing = Framing::default();
    for header in request.headers.iter() {
        framing.take(header, request.version)?;
    }
    let Framing {
        length, is_chunked, ..
    } = framing;
    let is_old = request.version == Some(0);
    let has_body = is_chunked || length.is_some_and(|length| length > 0);
    if (is_chunked && length.is_some())
        || !(framing.has_host || is_old)
        || (is_old && request.method == Some("POST") && length.is_none())
        // After a WebSocket handshake come frames, not a body, and a handshake that its `Connection` header does not
        // confirm is read differently by different parsers.
        || (framing.asks_for_websocket && (has_body || !framing.connection_upgrades))
    {
        return None;
    }
    Some(match length {
        _ if is_chunked => State::Chunked(ChunkedBody::new()),
        _ if framing.asks_for_websocket => State::Upgraded,
        None | Some(0) => State::Head,
        Some(length) => State::Body(length),
    })
}

/// The host that a request is for: that of an absolute target, else that of the Host header.
fn find_host<'h>(request: &'h Request<'_, '_>, target: &'h str) -> Option<&'h str> {
    if let Some((_, rest)) = target.split_once("://").filter(|_| !target.starts_with('/')) {
        return rest.split(['/', '?', '#']).next();
    }
    let header = request
        .headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case("host"))?;
    std::str::from_utf8(header.value).ok()
}

/// Whether the value of a Host header follows RFC 3986 §3.2: a name or an address, and maybe a port. It may be empty.
fn is_authority(value: &[u8]) -> bool {
    let (host, port) = if value.first() == Some(&b'[') {
        match memchr(b']', value) {
            Some(end) => (&value[1..end], &value[end + 1..]),
            None => return false,
        }
    } else {
        value.split_at(memchr(b':', value).unwrap_or(value.len()))
    };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=".contains(byte);
    let is_host = if value.first() == Some(&b'[') {
        host.iter()
            .all(|byte| byte.is_ascii_hexdigit() || b":.".contains(byte))
    } else {
        host.iter().all(is_name)
    };
    is_host && (port.is_empty() || (port[0] == b':' && port[1..].iter().all(u8::is_ascii_digit)))
}

/// The target with all characters percent-encoded that must be. `None` if nothing has to be.
fn encode_target(target: &str) -> Option<Vec<u8>> {
    if target.bytes().all(is_allowed_in_target) {
        return None;
    }
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = Vec::with_capacity(target.len() + 32);
    for byte in target.bytes() {
        if is_allowed_in_target(byte) {
            out.push(byte);
        } else {
            out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
    Some(out)
}

/// Characters that `http::Uri` accepts in paths and queries.
fn is_allowed_in_target(byte: u8) -> bool {
    matches!(byte, b'!' | b'$'..=b';' | b'=' | b'?'..=b'_' | b'a'..=b'z' | b'|' | b'~')
}
