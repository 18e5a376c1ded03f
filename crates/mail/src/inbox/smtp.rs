//! A small SMTP receiver for the inbox, so that functions of a project can send to it as to any server. Plain text, no
//! authentication, loopback by the caller's choice of listener; the commands of RFC 5321 that clients use.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::Inbox;

const MAX_CONNECTIONS: usize = 64;
const MAX_MESSAGE_BYTES: usize = 25 << 20;
const MAX_LINE_BYTES: u64 = 64 << 10;
const MAX_RECIPIENTS: usize = 100;
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
                    if let Err(error) = converse(stream, &inbox).await {
                        tracing::debug!(%error, "SMTP client left");
                    }
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "SMTP receiver cannot accept");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// What the client has said so far about the current mail.
#[derive(Default)]
struct Envelope {
    has_sender: bool,
    recipients: Vec<String>,
}

/// What one command makes of the conversation.
enum Next {
    Reply(&'static str),
    ReceiveData,
    Quit,
}

async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin, inbox: &Inbox) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut envelope = Envelope::default();
    stream.write_all(b"220 selvedge inbox ESMTP\r\n").await?;
    loop {
        stream.flush().await?;
        let Some(line) = read_line(&mut stream).await? else {
            return Ok(());
        };
        match envelope.command(&String::from_utf8_lossy(&line)) {
            Next::Reply(reply) => stream.write_all(reply.as_bytes()).await?,
            Next::Quit => {
                stream.write_all(b"221 Bye\r\n").await?;
                return stream.flush().await;
            }
            Next::ReceiveData => {
                stream
                    .write_all(b"354 End with a line that holds only a dot\r\n")
                    .await?;
                stream.flush().await?;
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
    fn command(&mut self, line: &str) -> Next {
        let line = line.trim_end();
        let verb = line
            .split([' ', ':'])
            .next()
            .unwrap_or_default()
            .to_ascii_uppercase();
        match verb.as_str() {
            "EHLO" => Next::Reply(
                "250-selvedge inbox\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-PIPELINING\r\n250 SIZE 26214400\r\n",
            ),
            "HELO" | "NOOP" => Next::Reply("250 OK\r\n"),
            "RSET" => {
                *self = Self::default();
                Next::Reply("250 OK\r\n")
            }
            "MAIL" => {
                *self = Self {
                    has_sender: true,
                    recipients: Vec::new(),
                };
                Next::Reply("250 OK\r\n")
            }
            "RCPT" if !self.has_sender => Next::Reply("503 MAIL first\r\n"),
            "RCPT" if self.recipients.len() >= MAX_RECIPIENTS => Next::Reply("452 Too many recipients\r\n"),
            "RCPT" => match line.split_once('<').and_then(|(_, rest)| rest.split_once('>')) {
                Some((address, _)) => {
                    self.recipients.push(address.to_owned());
                    Next::Reply("250 OK\r\n")
                }
                None => Next::Reply("501 Address in angle brackets expected\r\n"),
            },
            "DATA" if self.recipients.is_empty() => Next::Reply("503 RCPT first\r\n"),
            "DATA" => Next::ReceiveData,
            "QUIT" => Next::Quit,
            _ => Next::Reply("502 Not implemented\r\n"),
        }
    }
}

/// One line with its end, or `None` at the end of the stream.
async fn read_line(stream: &mut (impl AsyncBufReadExt + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut bounded = stream.take(MAX_LINE_BYTES);
    let read = tokio::time::timeout(IDLE_LIMIT, bounded.read_until(b'\n', &mut line)).await;
    match read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? {
        0 => Ok(None),
        _ => Ok(Some(line)),
    }
}

/// The message up to the lone dot, dots unstuffed; `None` when it is too large (then the rest is read and dropped).
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
