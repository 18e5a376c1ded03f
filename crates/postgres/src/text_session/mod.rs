//! A connection for SQL that a person has written: one statement at a time, results as PostgreSQL's text.
//!
//! Unlike `tokio-postgres`, it returns every value as text with the type and origin of its column, keeps notices in order
//! between rows, reads only as many rows as requested, and never holds a value longer than the limit in memory: the rest is
//! skipped while it arrives.

mod canceller;
mod error;
mod message;
mod reader;
mod viewers;

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;
use tokio::io::AsyncWriteExt;

pub use canceller::StatementCanceller;
pub use error::TextSessionError;
pub use message::{NoticeObject, TextCell, TextColumn, TextEvent, TextNotice, TransactionStatus};
pub use viewers::CONSOLE_READERS;

use self::reader::MessageReader;
use crate::wire::{Stream, open_connection};
use crate::{Database, Login};

/// A logged-in connection. PostgreSQL ends the session, and rolls back what is open, when this is dropped.
pub struct TextSession {
    stream: Box<dyn Stream>,
    reader: MessageReader,
    /// Whether the end of the current statement has been sent along with it.
    is_whole: bool,
}

impl Database {
    /// Opens a session as `login`, with what can cancel its statements. Must be used on the thread that opened it.
    ///
    /// # Errors
    /// When the database is away or refuses the login.
    pub async fn text_session(
        &self,
        login: Login,
    ) -> Result<(TextSession, StatementCanceller), TextSessionError> {
        let config = self.login_config(login);
        let opened = open_connection(&config, self.tls(), self.last_host()).await?;
        let canceller = StatementCanceller::new(config, self.tls().clone(), opened.host, opened.cancel);
        let session = TextSession {
            stream: opened.stream,
            reader: MessageReader::default(),
            is_whole: true,
        };
        Ok((session, canceller))
    }
}

impl TextSession {
    /// Sends one statement. A text with several is refused by PostgreSQL before any of them runs. At most `rows` rows come
    /// before [`TextEvent::Suspended`]; zero means all. With a number, [`Self::finish_statement`] must follow, also after an
    /// error.
    ///
    /// # Errors
    /// When the connection is lost, or the text contains a NUL character, which the protocol cannot carry.
    pub async fn send(&mut self, statement: &str, rows: u32) -> Result<(), TextSessionError> {
        let mut out = BytesMut::new();
        frontend::parse("", statement, [], &mut out)?;
        let no_values: [(); 0] = [];
        // Without a list of formats every result column is text.
        frontend::bind("", "", [], no_values, |_, _| Ok(IsNull::Yes), [], &mut out)
            .map_err(|_| TextSessionError::new("the statement could not be written to the connection"))?;
        frontend::describe(b'P', "", &mut out)?;
        frontend::execute("", i32::try_from(rows).unwrap_or(i32::MAX), &mut out)?;
        self.is_whole = rows == 0;
        if self.is_whole {
            frontend::sync(&mut out);
        } else {
            frontend::flush(&mut out);
        }
        self.write(&out).await
    }

    /// Asks for `rows` further rows after [`TextEvent::Suspended`].
    ///
    /// # Errors
    /// When the connection is lost.
    pub async fn send_more(&mut self, rows: u32) -> Result<(), TextSessionError> {
        let mut out = BytesMut::new();
        frontend::execute("", i32::try_from(rows).unwrap_or(i32::MAX), &mut out)?;
        frontend::flush(&mut out);
        self.write(&out).await
    }

    /// Ends the statement, whether its rows were all taken or not. [`TextEvent::Ready`] answers.
    ///
    /// # Errors
    /// When the connection is lost.
    pub async fn finish_statement(&mut self) -> Result<(), TextSessionError> {
        let mut out = BytesMut::new();
        frontend::close(b'P', "", &mut out)?;
        frontend::sync(&mut out);
        self.write(&out).await
    }

    /// The next event of the statement that was sent. Values longer than `cell_bytes` are cut, and rows longer than
    /// `row_bytes` have shorter values.
    ///
    /// # Errors
    /// When the connection is lost or does not speak the protocol.
    pub async fn next_event(
        &mut self,
        cell_bytes: usize,
        row_bytes: usize,
    ) -> Result<TextEvent, TextSessionError> {
        loop {
            let event = self.reader.next(&mut self.stream, cell_bytes, row_bytes).await?;
            match event {
                Some(TextEvent::CopyRequested) => {
                    let mut out = BytesMut::new();
                    frontend::copy_fail("the data of COPY … FROM stdin is not part of the text", &mut out)?;
                    if self.is_whole {
                        // PostgreSQL has passed over the one before, because it was waiting for data.
                        frontend::sync(&mut out);
                    }
                    self.write(&out).await?;
                }
                Some(event) => return Ok(event),
                None => {}
            }
        }
    }

    /// Runs a statement of this program and ignores its rows.
    ///
    /// # Errors
    /// The statement's error, or that the connection is lost.
    pub async fn run(&mut self, statement: &str) -> Result<(), TextSessionError> {
        self.send(statement, 0).await?;
        let mut refusal = None;
        loop {
            match self.next_event(1024, 1024).await? {
                TextEvent::Error(error) => refusal = Some(error),
                TextEvent::Ready(_) => break,
                _ => {}
            }
        }
        match refusal {
            Some(error) => Err(TextSessionError::new(format!(
                "{}: {}",
                error.code, error.message
            ))),
            None => Ok(()),
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), TextSessionError> {
        self.stream.write_all(bytes).await?;
        Ok(self.stream.flush().await?)
    }
}
