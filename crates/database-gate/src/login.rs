//! The login of a client at PostgreSQL. Its messages are passed on and read on the way, so that a client has a place among the sessions only
//! after PostgreSQL has accepted its password.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::UnixStream;

use super::startup::error_message;

/// The first bytes of PostgreSQL's messages, which say their kind.
const AUTHENTICATION: u8 = b'R';
const ERROR_RESPONSE: u8 = b'E';
const BACKEND_KEY_DATA: u8 = b'K';
const READY_FOR_QUERY: u8 = b'Z';
/// Bytes before the body of a message: its kind and its length.
const HEADER_BYTES: usize = 5;
/// The longest message that is accepted during a login; PostgreSQL's have some hundred bytes.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;
/// How many bytes of the client are read at a time.
const READ_BYTES: usize = 4096;
/// The class of SQLSTATEs for a login that is not allowed or has a wrong password.
const INVALID_AUTHORIZATION: &[u8] = b"28";
/// Bytes of a cancel request before its key: length and number.
const CANCEL_HEADER_BYTES: usize = 8;

/// A connection to a client, with or without TLS.
pub(super) trait ClientStream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> ClientStream for S {}

/// How a login has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoginOutcome {
    /// PostgreSQL accepts the password, and the client does not know it yet.
    Accepted,
    /// PostgreSQL or the gate has refused it, and the client was told.
    Refused,
}

/// The messages between a client and PostgreSQL.
pub(super) struct Conversation<'c> {
    client: &'c mut dyn ClientStream,
    server: &'c mut UnixStream,
    /// What was read from PostgreSQL and not yet sent to the client.
    unsent: BytesMut,
}

impl<'c> Conversation<'c> {
    /// Begins a conversation.
    pub(super) fn new(client: &'c mut dyn ClientStream, server: &'c mut UnixStream) -> Self {
        Self::resume(client, server, BytesMut::new())
    }

    /// Continues a conversation from which `unsent` was left.
    pub(super) fn resume(
        client: &'c mut dyn ClientStream,
        server: &'c mut UnixStream,
        unsent: BytesMut,
    ) -> Self {
        Self {
            client,
            server,
            unsent,
        }
    }

    /// Ends the conversation, and returns what was read from PostgreSQL and not yet sent to the client.
    pub(super) fn into_unsent(self) -> BytesMut {
        self.unsent
    }

    /// Passes messages on until PostgreSQL has accepted or refused the login. Unless `is_login` it is refused, whatever PostgreSQL says.
    ///
    /// # Errors
    /// When either side ends the connection.
    pub(super) async fn follow_login(&mut self, user: &str, is_login: bool) -> io::Result<LoginOutcome> {
        loop {
            let length = self.read_message().await?;
            let message = &self.unsent[..length];
            let is_refused =
                message[0] == ERROR_RESPONSE && error_code(message).starts_with(INVALID_AUTHORIZATION);
            let is_accepted = message[0] == AUTHENTICATION && message[HEADER_BYTES..].starts_with(&[0; 4]);
            if is_refused || is_accepted && !is_login {
                // One text for wrong passwords and unknown names: PostgreSQL would name the role that stands for an unknown one.
                let text = format!("password authentication failed for user \"{user}\"");
                self.refuse("28P01", &text).await?;
                return Ok(LoginOutcome::Refused);
            }
            if is_accepted {
                return Ok(LoginOutcome::Accepted);
            }
            let is_error = message[0] == ERROR_RESPONSE;
            self.pass_on(length).await?;
            if is_error {
                return Ok(LoginOutcome::Refused);
            }
        }
    }

    /// Ends the conversation with an error.
    ///
    /// # Errors
    /// When the client is gone.
    pub(super) async fn refuse(&mut self, code: &str, text: &str) -> io::Result<()> {
        self.client.write_all(&error_message(code, text)).await?;
        self.client.flush().await
    }

    /// Tells the client that it has logged in. Returns what else was read from PostgreSQL.
    ///
    /// # Errors
    /// When the client is gone.
    pub(super) async fn accept(mut self) -> io::Result<BytesMut> {
        let length = self.read_message().await?;
        self.pass_on(length).await?;
        Ok(self.unsent)
    }

    /// Passes messages on until PostgreSQL says that it waits for a statement, which is not passed on. Returns the key by which the session's
    /// statements are cancelled.
    ///
    /// # Errors
    /// When either side ends the connection.
    pub(super) async fn follow_start(&mut self) -> io::Result<SessionKey> {
        let mut key = None;
        loop {
            let length = self.read_message().await?;
            let (kind, body) = (self.unsent[0], &self.unsent[HEADER_BYTES..length]);
            if kind == BACKEND_KEY_DATA {
                key = Some(SessionKey(body.to_vec()));
            }
            if kind == READY_FOR_QUERY {
                return key.ok_or_else(|| io::Error::other("PostgreSQL has sent no key of the session"));
            }
            self.pass_on(length).await?;
        }
    }

    /// Waits until a whole message of PostgreSQL is in `unsent`, and passes on meanwhile what the client sends. Returns the length of the message.
    async fn read_message(&mut self) -> io::Result<usize> {
        let mut sent = [0; READ_BYTES];
        loop {
            if let Some(length) = message_length(&self.unsent)? {
                return Ok(length);
            }
            // The branch that is cancelled has read nothing, so no byte is lost.
            tokio::select! {
                read = self.server.read_buf(&mut self.unsent) => check_end(read?)?,
                read = self.client.read(&mut sent) => {
                    let count = read?;
                    check_end(count)?;
                    self.server.write_all(&sent[..count]).await?;
                }
            };
        }
    }

    async fn pass_on(&mut self, length: usize) -> io::Result<()> {
        self.client.write_all(&self.unsent[..length]).await?;
        self.client.flush().await?;
        self.unsent.advance(length);
        Ok(())
    }
}

fn check_end(count: usize) -> io::Result<()> {
    match count {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

/// The length of the first message; `None` while a part of it is missing.
fn message_length(bytes: &[u8]) -> io::Result<Option<usize>> {
    let Some(length) = bytes
        .get(1..HEADER_BYTES)
        .and_then(|length| length.try_into().ok())
    else {
        return Ok(None);
    };
    // The length counts itself, but not the byte of the kind.
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(io::Error::other)?;
    if !(HEADER_BYTES - 1..MAX_MESSAGE_BYTES).contains(&length) {
        return Err(io::Error::other(
            "PostgreSQL has sent a message of a wrong length",
        ));
    }
    Ok((bytes.len() > length).then_some(length + 1))
}

/// The code of an error, as `28P01`; empty without one.
fn error_code(message: &[u8]) -> &[u8] {
    let mut fields = message[HEADER_BYTES..].split(|byte| *byte == 0);
    let code = fields.find_map(|field| field.strip_prefix(b"C"));
    code.unwrap_or_default()
}

/// By what a session is named in a cancel request: the number of its process, and a secret.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SessionKey(Vec<u8>);

impl SessionKey {
    /// The number of the session's process.
    ///
    /// # Errors
    /// When PostgreSQL has sent a key without one.
    pub(super) fn process(&self) -> io::Result<i32> {
        let number = self.0.first_chunk();
        let number = number.ok_or_else(|| io::Error::other("PostgreSQL has sent a key that is too short"))?;
        Ok(i32::from_be_bytes(*number))
    }
}

/// The keys of sessions that came through the gate, with which their statements are cancelled.
#[derive(Debug, Clone, Default)]
pub(super) struct CancelKeys(Arc<Mutex<HashSet<Vec<u8>>>>);

impl CancelKeys {
    /// Registers the key of a session. Dropping the returned value takes it back.
    pub(super) fn add(&self, SessionKey(key): SessionKey) -> RegisteredKey {
        self.lock().insert(key.clone());
        RegisteredKey {
            key,
            keys: self.clone(),
        }
    }

    /// Whether a request to cancel has one of the keys.
    pub(super) fn has(&self, request: &[u8]) -> bool {
        request
            .get(CANCEL_HEADER_BYTES..)
            .is_some_and(|key| self.lock().contains(key))
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key of a session, registered until this is dropped.
#[derive(Debug)]
pub(super) struct RegisteredKey {
    key: Vec<u8>,
    keys: CancelKeys,
}

impl Drop for RegisteredKey {
    fn drop(&mut self) {
        self.keys.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client and PostgreSQL, each with the end that the gate has of it.
    fn sides() -> [(UnixStream, UnixStream); 2] {
        [UnixStream::pair().unwrap(), UnixStream::pair().unwrap()]
    }

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[kind], &length.to_be_bytes()[..], body].concat()
    }

    async fn log_in(is_login: bool, decision: &[u8]) -> (LoginOutcome, Vec<u8>) {
        let [(mut client, mut of_client), (mut server, mut of_server)] = sides();
        let ask = message(AUTHENTICATION, &[0, 0, 0, 10]);
        server.write_all(&ask).await.unwrap();
        client.write_all(b"my password").await.unwrap();
        let mut conversation = Conversation::new(&mut of_client, &mut of_server);
        let decide = async {
            let mut sent = [0; 11];
            server.read_exact(&mut sent).await.unwrap();
            assert_eq!(&sent, b"my password");
            server.write_all(decision).await.unwrap();
        };
        let (outcome, ()) = tokio::join!(conversation.follow_login("ana", is_login), decide);
        let outcome = outcome.unwrap();
        drop(of_client);
        let mut got = Vec::new();
        client.read_to_end(&mut got).await.unwrap();
        (outcome, got[ask.len()..].to_vec())
    }

    #[tokio::test]
    async fn prod_011_a_login_is_accepted_by_postgresql_and_nobody_else_gets_in() {
        let accepted = message(AUTHENTICATION, &[0; 4]);
        let refused = message(
            ERROR_RESPONSE,
            b"SFATAL\0C28P01\0Mno role \"selvedge_nobody_1\"\0\0",
        );
        let starting = message(ERROR_RESPONSE, b"SFATAL\0C57P03\0Mstarting up\0\0");

        assert_eq!(
            log_in(true, &accepted).await,
            (LoginOutcome::Accepted, Vec::new())
        );
        assert_eq!(
            log_in(true, &starting).await,
            (LoginOutcome::Refused, starting.clone())
        );
        let told = log_in(true, &refused).await;
        assert_eq!(told.0, LoginOutcome::Refused);
        assert!(!String::from_utf8(told.1.clone()).unwrap().contains("nobody"));
        assert_eq!(log_in(false, &refused).await, told);
        assert_eq!(log_in(false, &accepted).await, told);
    }

    #[tokio::test]
    async fn prod_011_the_key_of_a_session_is_known_while_it_lasts() {
        let [(mut client, mut of_client), (mut server, mut of_server)] = sides();
        let said = [
            message(b'S', b"TimeZone\0UTC\0"),
            message(BACKEND_KEY_DATA, &[1; 8]),
            message(READY_FOR_QUERY, b"I"),
            b"more".to_vec(),
        ];
        server.write_all(&said.concat()).await.unwrap();
        let mut conversation = Conversation::new(&mut of_client, &mut of_server);
        let keys = CancelKeys::default();

        let key = conversation.follow_start().await.unwrap();
        let unsent = conversation.into_unsent();

        assert_eq!(key.process().unwrap(), 0x0101_0101);
        let known = keys.add(key);
        // The client learns that the session is ready once the gate has looked up whose session it is.
        assert_eq!(unsent[..], said[2..].concat());
        let mut got = vec![0; said[..2].concat().len()];
        client.read_exact(&mut got).await.unwrap();
        assert_eq!(got, said[..2].concat());
        let request = |byte| [&[0; CANCEL_HEADER_BYTES][..], &[byte; 8]].concat();
        assert!(keys.has(&request(1)) && !keys.has(&request(2)) && !keys.has(&[]));
        drop(known);
        assert!(!keys.has(&request(1)));
    }

    #[test]
    fn prod_011_messages_that_postgresql_would_not_send_end_a_login() {
        assert_eq!(message_length(b"R\0\0\0").unwrap(), None);
        assert_eq!(message_length(b"R\0\0\0\x08\0\0\0").unwrap(), None);
        assert_eq!(message_length(b"R\0\0\0\x08\0\0\0\0").unwrap(), Some(9));
        assert_eq!(message_length(b"Z\0\0\0\x04").unwrap(), Some(5));
        assert!(message_length(b"R\0\0\0\x03").is_err());
        assert!(message_length(b"R\xff\xff\xff\xff").is_err());
    }
}
