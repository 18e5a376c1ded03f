//! What a client of PostgreSQL sends before it logs in: read here, so that only logins for people come further.

use std::collections::BTreeMap;
use std::io;

use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Codes in the place of the protocol's version by which a client asks for something other than a login.
const CANCEL_REQUEST: u32 = 80_877_102;
const SSL_REQUEST: u32 = 80_877_103;
const GSSENC_REQUEST: u32 = 80_877_104;
/// Version 3 of the protocol; PostgreSQL answers which minor one it speaks.
const MAJOR: u32 = 3;
/// The longest first message: PostgreSQL's own limit, less the bytes by which the name of the missing role may be longer than the client's.
const MAX_MESSAGE_BYTES: u32 = 9_900;
/// Bytes before the body of the first message: its length and its code.
const HEADER_BYTES: u32 = 8;
/// The bytes of a cancel request after its header: the number of the process, and its secret of up to 32 bytes.
const CANCEL_BYTES: std::ops::RangeInclusive<u32> = 8..=36;
/// Bytes of the digest in a name that no role has. Names in PostgreSQL have up to 63 bytes.
const DIGEST_BYTES: usize = 16;

/// A message before the login.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// The client would like TLS.
    Tls,
    /// The client would like encryption by GSSAPI.
    Gss,
    /// The client asks to cancel a statement of another connection. The whole message.
    Cancel(Vec<u8>),
    /// The login.
    Startup(Startup),
}

/// Who logs in, and how.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Startup {
    pub(super) user: String,
    version: u32,
    /// All parameters but the user.
    parameters: BTreeMap<String, String>,
}

impl Startup {
    /// The database that the client asks for. As in PostgreSQL it is named like the user where the client names none.
    pub(super) fn database(&self) -> &str {
        let named = self.parameters.get("database").map(String::as_str);
        named.filter(|name| !name.is_empty()).unwrap_or(&self.user)
    }

    /// The message for PostgreSQL, written anew, so that it reads what was checked here.
    pub(super) fn message(&self) -> Vec<u8> {
        self.message_of(&self.user)
    }

    /// The message for a name that is no login. It names a role that does not exist, made of the name: PostgreSQL then asks for a password as it
    /// does for roles that exist, with the same salt each time, so that clients cannot tell which names are logins.
    pub(super) fn message_of_missing_role(&self) -> Vec<u8> {
        let digest = hex::encode(&Sha256::digest(&self.user)[..DIGEST_BYTES]);
        self.message_of(&format!("selvedge_nobody_{digest}"))
    }

    fn message_of(&self, user: &str) -> Vec<u8> {
        let mut body = Vec::new();
        let parameters = self.parameters.iter().map(|(name, value)| [name.as_str(), value]);
        for text in parameters.chain([["user", user]]).flatten() {
            body.extend_from_slice(text.as_bytes());
            body.push(0);
        }
        body.push(0);
        write_message(self.version, &body)
    }
}

/// Reads one message, and no byte more: what follows may be the handshake of TLS.
///
/// # Errors
/// When the connection ends, or the message is none that PostgreSQL would read in the same way.
pub(super) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Request> {
    let (length, number) = (stream.read_u32().await?, stream.read_u32().await?);
    if !(HEADER_BYTES..=MAX_MESSAGE_BYTES).contains(&length) {
        return Err(refusal("the first message has a wrong length"));
    }
    let rest = length - HEADER_BYTES;
    match number {
        SSL_REQUEST if rest == 0 => return Ok(Request::Tls),
        GSSENC_REQUEST if rest == 0 => return Ok(Request::Gss),
        CANCEL_REQUEST if CANCEL_BYTES.contains(&rest) => {}
        _ if number >> 16 == MAJOR => {}
        _ => return Err(refusal("the first message is not one of PostgreSQL's protocol 3")),
    }
    let mut body = vec![0; usize::try_from(rest).map_err(io::Error::other)?];
    stream.read_exact(&mut body).await?;
    if number == CANCEL_REQUEST {
        return Ok(Request::Cancel(write_message(number, &body)));
    }
    parse_startup(number, &body).map(Request::Startup)
}

fn parse_startup(version: u32, body: &[u8]) -> io::Result<Startup> {
    let mut parameters = parse_parameters(body)?;
    if parameters.contains_key("replication") {
        return Err(refusal("the login may not replicate"));
    }
    let user = parameters.remove("user").filter(|user| !user.is_empty());
    Ok(Startup {
        user: user.ok_or_else(|| refusal("there is no user"))?,
        version,
        parameters,
    })
}

fn parse_parameters(body: &[u8]) -> io::Result<BTreeMap<String, String>> {
    let Some(body) = body.strip_suffix(&[0]) else {
        return Err(refusal("the parameters do not end"));
    };
    let mut texts = body.split(|byte| *byte == 0);
    let mut pairs = BTreeMap::new();
    while let Some(name) = texts.next() {
        if name.is_empty() {
            let is_end = texts.next().is_none();
            return is_end
                .then_some(pairs)
                .ok_or_else(|| refusal("the parameters do not end"));
        }
        let value = texts.next().ok_or_else(|| refusal("a parameter has no value"))?;
        let text =
            |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| refusal("a parameter is not UTF-8"));
        // Of two, another reader could take the other one.
        if pairs.insert(text(name)?, text(value)?).is_some() {
            return Err(refusal("a parameter comes twice"));
        }
    }
    Err(refusal("the parameters do not end"))
}

fn write_message(number: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).map_or(u32::MAX, |length| length.saturating_add(HEADER_BYTES));
    [&length.to_be_bytes()[..], &number.to_be_bytes(), body].concat()
}

fn refusal(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// An error as PostgreSQL sends it, upon which a connection ends.
pub(super) fn error_message(code: &str, text: &str) -> Vec<u8> {
    let fields = format!("SFATAL\0VFATAL\0C{code}\0M{text}\0\0");
    let length = u32::try_from(fields.len()).map_or(u32::MAX, |length| length.saturating_add(4));
    [b"E", &length.to_be_bytes()[..], fields.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: u32 = MAJOR << 16;

    async fn read(bytes: &[u8]) -> Result<Request, String> {
        read_request(&mut &*bytes)
            .await
            .map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn prod_011_a_login_is_read_once_and_sent_on_as_it_was_read() {
        let message = write_message(VERSION, b"user\0ana\0database\0postgres\0\0");

        let request = read(&message).await.unwrap();

        let Request::Startup(startup) = request else {
            panic!("it is a login: {request:?}");
        };
        assert_eq!((startup.user.as_str(), startup.database()), ("ana", "postgres"));
        let again = read(&startup.message()).await.unwrap();
        assert_eq!(again, Request::Startup(startup));
    }

    #[tokio::test]
    async fn prod_011_the_database_is_named_like_the_user_where_no_other_name_is_given() {
        for body in [&b"user\0ana\0\0"[..], b"user\0ana\0database\0\0\0"] {
            let Request::Startup(startup) = read(&write_message(VERSION, body)).await.unwrap() else {
                panic!("it is a login");
            };
            assert_eq!(startup.database(), "ana");
        }
    }

    #[tokio::test]
    async fn prod_011_what_postgresql_could_read_in_another_way_is_refused() {
        let login = |body: &[u8]| write_message(VERSION, body);
        for (message, reason) in [
            (login(b"user\0ana\0user\0postgres\0\0"), "twice"),
            (login(b"user\0ana\0replication\0database\0\0"), "replicate"),
            (login(b"database\0postgres\0\0"), "no user"),
            (login(b"user\0\0\0"), "no user"),
            (login(b"user\0ana"), "do not end"),
            (login(b"user\0ana\0"), "do not end"),
            (login(b"user\0ana\0\0database\0postgres\0\0"), "do not end"),
            (login(b"user\0\xff\0\0"), "UTF-8"),
            (write_message(2 << 16, b"user\0ana\0\0"), "protocol 3"),
            (write_message(SSL_REQUEST, b"x"), "protocol 3"),
            (write_message(CANCEL_REQUEST, b"x"), "protocol 3"),
            ([0, 0, 0, 7, 0, 3, 0, 0].to_vec(), "length"),
            ([0, 1, 0, 0, 0, 3, 0, 0].to_vec(), "length"),
        ] {
            let refused = read(&message).await.unwrap_err();
            assert!(refused.contains(reason), "{message:?}: {refused}");
        }
        assert!(read(&login(b"user\0ana\0\0")[..12]).await.is_err());
    }

    #[tokio::test]
    async fn prod_011_a_stranger_logs_in_as_a_role_that_nobody_has() {
        let as_nobody = async |user: &str| {
            let login = [b"user\0", user.as_bytes(), b"\0database\0shop\0\0"].concat();
            let Ok(Request::Startup(startup)) = read(&write_message(VERSION + 2, &login)).await else {
                panic!("it is a login");
            };
            match read(&startup.message_of_missing_role()).await {
                Ok(Request::Startup(sent)) => sent,
                request => panic!("it is a login: {request:?}"),
            }
        };

        let first = as_nobody("postgres").await;

        assert!(first.user.starts_with("selvedge_nobody_") && first.user.len() < 64);
        // All else is as the client has said it, so that the answer does not tell.
        assert_eq!(
            (first.version, first.parameters["database"].as_str()),
            (VERSION + 2, "shop")
        );
        assert_eq!(as_nobody("postgres").await, first);
        assert_ne!(as_nobody(&"a".repeat(9000)).await.user, first.user);
    }

    #[tokio::test]
    async fn prod_011_wishes_before_the_login_are_understood() {
        assert_eq!(read(&write_message(SSL_REQUEST, b"")).await, Ok(Request::Tls));
        assert_eq!(read(&write_message(GSSENC_REQUEST, b"")).await, Ok(Request::Gss));
        let cancel = write_message(CANCEL_REQUEST, &[1; 8]);
        assert_eq!(read(&cancel).await, Ok(Request::Cancel(cancel.clone())));
    }
}
