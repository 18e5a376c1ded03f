//! A small SMTP receiver for the inbox, so that functions of a project can send mail to it as to any server. Plain
//! text without authentication, with the commands of RFC 5321 that clients use. The caller makes the listener and
//! should bind it to loopback.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::Inbox;

/// Further clients wait until one of these connections ends.
const MAX_CONNECTIONS: usize = 64;
/// 25 MiB, also announced as `SIZE` in the reply to EHLO.
const MAX_MESSAGE_BYTES: usize = 25 << 20;
/// The longest part of a line that is read in one piece, which bounds the memory of a client that never ends its line.
const MAX_LINE_BYTES: u64 = 64 << 10;
const MAX_RECIPIENTS: usize = 100;
/// How long the receiver waits for one line.
const IDLE_LIMIT: Duration = Duration::from_secs(60);

/// Serves `listener` until the future is dropped.
pub async fn listen(listener: TcpListener, inbox: Inbox) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let inbox = inbox.clone();
                tokio::spawn(async move {
                    if let Err(error) = serve_client(stream, &inbox).await {
                        tracing::debug!(%error, "SMTP connection ended with an error");
                    }
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "the SMTP receiver could not accept a connection");
                // Accepting fails when the process is out of file descriptors; without a pause the loop would spin.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Sender and recipients of the mail that the client is announcing.
#[derive(Default)]
struct Envelope {
    has_sender: bool,
    recipients: Vec<String>,
}

/// What the receiver does after a command.
enum Action {
    Reply(&'static str),
    ReceiveData,
    Quit,
}

/// Serves one client until it quits or disconnects.
async fn serve_client(stream: impl AsyncRead + AsyncWrite + Unpin, inbox: &Inbox) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut envelope = Envelope::default();
    stream.write_all(b"220 selvedge inbox ESMTP\r\n").await?;
    loop {
        // Replies are buffered, and a client that pipelines commands gets them together.
        stream.flush().await?;
        let Some(line) = read_line(&mut stream).await? else {
            return Ok(());
        };
        match envelope.handle_command(&String::from_utf8_lossy(&line)) {
            Action::Reply(reply) => stream.write_all(reply.as_bytes()).await?,
            Action::Quit => {
                stream.write_all(b"221 Bye\r\n").await?;
                return stream.flush().await;
            }
            Action::ReceiveData => {
                stream
                    .write_all(b"354 End with a line that holds only a dot\r\n")
                    .await?;
                stream.flush().await?;
                // A client may send several mails over one connection, so the envelope starts anew.
                let recipients = std::mem::take(&mut envelope).recipients;
                match read_data(&mut stream).await? {
                    Some(raw) => {
                        inbox.deliver_raw(&raw, &recipients);
                        stream.write_all(b"250 Kept\r\n").await?;
                    }
                    None => stream.write_all(b"552 Message too large\r\n").await?,
                }
            }
        }
    }
}

impl Envelope {
    /// Records a command of the client and decides the reply.
    fn handle_command(&mut self, line: &str) -> Action {
        let line = line.trim_end();
        let verb = line
            .split([' ', ':'])
            .next()
            .unwrap_or_default()
            .to_ascii_uppercase();
        match verb.as_str() {
            "EHLO" => Action::Reply(
                "250-selvedge inbox\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-PIPELINING\r\n250 SIZE 26214400\r\n",
            ),
            "HELO" | "NOOP" => Action::Reply("250 OK\r\n"),
            "RSET" => {
                *self = Self::default();
                Action::Reply("250 OK\r\n")
            }
            // The sender's address is not checked: the inbox shows the `From` header instead.
            "MAIL" => {
                *self = Self {
                    has_sender: true,
                    recipients: Vec::new(),
                };
                Action::Reply("250 OK\r\n")
            }
            "RCPT" if !self.has_sender => Action::Reply("503 MAIL first\r\n"),
            "RCPT" if self.recipients.len() >= MAX_RECIPIENTS => Action::Reply("452 Too many recipients\r\n"),
            "RCPT" => match line.split_once('<').and_then(|(_, rest)| rest.split_once('>')) {
                Some((address, _)) => {
                    self.recipients.push(address.to_owned());
                    Action::Reply("250 OK\r\n")
                }
                None => Action::Reply("501 Address in angle brackets expected\r\n"),
            },
            "DATA" if self.recipients.is_empty() => Action::Reply("503 RCPT first\r\n"),
            "DATA" => Action::ReceiveData,
            "QUIT" => Action::Quit,
            _ => Action::Reply("502 Not implemented\r\n"),
        }
    }
}

/// Reads one line with its line end; `None` at the end of the stream.
async fn read_line(stream: &mut (impl AsyncBufReadExt + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut bounded = stream.take(MAX_LINE_BYTES);
    let read = tokio::time::timeout(IDLE_LIMIT, bounded.read_until(b'\n', &mut line)).await;
    match read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? {
        0 => Ok(None),
        _ => Ok(Some(line)),
    }
}

/// Reads the message up to the line with a single dot and removes the doubled dots (RFC 5321 §4.5.2). `None` when it
/// is too large; it is then read to its end all the same, so that the client sees the reply.
async fn read_data(stream: &mut (impl AsyncBufReadExt + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut message = Vec::new();
    let mut too_large = false;
    loop {
        let line = read_line(stream)
            .await?
            .ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        if line == b".\r\n" || line == b".\n" {
            return Ok((!too_large).then_some(message));
        }
        let line = line.strip_prefix(b".").unwrap_or(&line);
        too_large |= message.len() + line.len() > MAX_MESSAGE_BYTES;
        if !too_large {
            message.extend_from_slice(line);
        }
    }
}
