//! The bounded store behind the inbox: newest first; when it is full, the oldest mails are dropped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, SecondsFormat, Utc};
use mail_parser::MessageParser;
use serde::Serialize;
use tokio::sync::Notify;

use super::text_message::{TextChannel, TextMessage};
use crate::{Mail, Sender};

/// Largest number of mails kept; the oldest is dropped.
const CAPACITY: usize = 500;
/// Most bytes that are kept over all mails, attachments included.
const CAPACITY_BYTES: usize = 64 << 20;
/// Length of the text excerpt in lists, in characters.
const SNIPPET_LENGTH: usize = 250;
/// How many characters of a text message are shown as its subject.
const TEXT_SUBJECT_LENGTH: usize = 100;

/// A mail address with its display name, in Mailpit's spelling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Address {
    /// Display name, or empty.
    pub name: String,
    /// The address itself.
    pub address: String,
}

/// The members that only text messages have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextMessageDetails {
    /// SMS or WhatsApp.
    pub channel: TextChannel,
    /// The one-time code in the text.
    pub code: Option<String>,
}

/// One received mail or text message.
#[derive(Debug, Clone)]
pub struct StoredMail {
    /// Identifies the mail in URLs.
    pub id: String,
    /// Sender in the header `From`.
    pub from: Address,
    /// Recipients in the header `To`.
    pub to: Vec<Address>,
    /// Recipients in the header `Cc`.
    pub cc: Vec<Address>,
    /// Subject line.
    pub subject: String,
    /// HTML part, or empty.
    pub html: String,
    /// Plain text part, or empty.
    pub text: String,
    /// Time of arrival.
    pub created: DateTime<Utc>,
    /// Header lines as received, in order.
    pub headers: Vec<(String, String)>,
    /// Whether the mail was opened.
    pub read: bool,
    /// Number of attached files.
    pub attachments: usize,
    /// Size of the whole mail in bytes.
    pub size: usize,
    /// `None` for mails.
    pub text_message: Option<TextMessageDetails>,
}

impl StoredMail {
    /// Time of arrival as RFC 3339.
    #[must_use]
    pub fn created_text(&self) -> String {
        self.created.to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    /// The first words of the text.
    #[must_use]
    pub fn snippet(&self) -> String {
        let words = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        words.chars().take(SNIPPET_LENGTH).collect()
    }

    /// All recipients.
    pub fn recipients(&self) -> impl Iterator<Item = &Address> {
        self.to.iter().chain(&self.cc)
    }

    /// The mail as it would be on the wire: headers, a blank line, the text.
    #[must_use]
    pub fn source(&self) -> String {
        let mut out = String::new();
        for (name, value) in &self.headers {
            out.push_str(&format!("{name}: {value}\r\n"));
        }
        out.push_str("\r\n");
        out.push_str(if self.html.is_empty() {
            &self.text
        } else {
            &self.html
        });
        out
    }
}

/// A bounded, shared store of mails. Clones see the same mails.
#[derive(Debug, Clone, Default)]
pub struct Inbox {
    state: Arc<Mutex<State>>,
    arrived: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    /// The mails, newest first.
    mails: VecDeque<Arc<StoredMail>>,
    bytes: usize,
    received: u64,
}

impl Inbox {
    /// Waits until this many mails have arrived since the inbox was created; dropped and deleted ones count, too.
    pub async fn wait_for(&self, count: u64) {
        loop {
            let next = self.arrived.notified();
            tokio::pin!(next);
            // Registered before the count is read: an arrival in between still wakes this task.
            next.as_mut().enable();
            if self.lock().received >= count {
                return;
            }
            next.await;
        }
    }

    /// Stores a mail of this process.
    pub fn deliver(&self, sender: &Sender, mail: Mail) {
        let from = Address {
            name: sender.name.clone(),
            address: sender.address.clone(),
        };
        let created = Utc::now();
        let mut headers = vec![
            ("From".to_owned(), format!("{} <{}>", from.name, from.address)),
            ("To".to_owned(), mail.to.clone()),
            ("Subject".to_owned(), mail.subject.clone()),
            ("Date".to_owned(), created.to_rfc2822()),
        ];
        let unsubscribing = mail.unsubscribe_headers().into_iter();
        headers.extend(unsubscribing.map(|(name, value)| (name.to_owned(), value)));
        self.insert_mail(StoredMail {
            id: String::new(),
            from,
            to: vec![Address {
                name: String::new(),
                address: mail.to,
            }],
            cc: Vec::new(),
            subject: mail.subject,
            size: mail.html.len() + mail.text.len(),
            html: mail.html,
            text: mail.text,
            created,
            headers,
            read: false,
            attachments: 0,
            text_message: None,
        });
    }

    /// Stores a text message.
    pub fn deliver_text(&self, message: TextMessage) {
        let address = |address: String| Address {
            name: String::new(),
            address,
        };
        let created = Utc::now();
        let headers = vec![
            ("From".to_owned(), message.from.clone()),
            ("To".to_owned(), message.to.clone()),
            ("Date".to_owned(), created.to_rfc2822()),
        ];
        // A text message has no subject, so the list shows its beginning.
        let first_line = message.text.lines().next().unwrap_or_default();
        self.insert_mail(StoredMail {
            id: String::new(),
            from: address(message.from),
            to: vec![address(message.to)],
            cc: Vec::new(),
            subject: first_line.chars().take(TEXT_SUBJECT_LENGTH).collect(),
            html: String::new(),
            size: message.text.len(),
            text: message.text,
            created,
            headers,
            read: false,
            attachments: 0,
            text_message: Some(TextMessageDetails {
                channel: message.channel,
                code: message.code,
            }),
        });
    }

    /// Stores a mail received by SMTP. `recipients` are those of the envelope; they are used when the headers name
    /// none.
    pub fn deliver_raw(&self, raw: &[u8], recipients: &[String]) {
        // Text without any header is not a mail, so there is nothing to show.
        let Some(message) = MessageParser::default().parse(raw) else {
            return;
        };
        let to = read_addresses(message.to());
        let envelope = || {
            recipients
                .iter()
                .map(|to| Address {
                    name: String::new(),
                    address: to.clone(),
                })
                .collect()
        };
        let from = read_addresses(message.from()).into_iter().next();
        let headers = message
            .headers_raw()
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
        self.insert_mail(StoredMail {
            id: String::new(),
            from: from.unwrap_or(Address {
                name: String::new(),
                address: String::new(),
            }),
            to: if to.is_empty() { envelope() } else { to },
            cc: read_addresses(message.cc()),
            subject: message.subject().unwrap_or_default().to_owned(),
            html: message
                .body_html(0)
                .map(|body| body.into_owned())
                .unwrap_or_default(),
            text: message
                .body_text(0)
                .map(|body| body.into_owned())
                .unwrap_or_default(),
            created: Utc::now(),
            headers,
            read: false,
            attachments: message.attachment_count(),
            size: raw.len(),
            text_message: None,
        });
    }

    /// Gives the mail its id and stores it; drops the oldest mails beyond the capacity.
    fn insert_mail(&self, mut mail: StoredMail) {
        let mut state = self.lock();
        state.received += 1;
        // The time makes ids sortable and different between runs; the counter makes them unique within a run.
        mail.id = format!(
            "{:x}{:04x}",
            mail.created.timestamp_millis(),
            state.received & 0xffff
        );
        state.bytes += mail.size;
        state.mails.push_front(Arc::new(mail));
        self.arrived.notify_waiters();
        // At least the newest mail stays, also when it alone exceeds the limit of bytes.
        while state.mails.len() > CAPACITY || (state.bytes > CAPACITY_BYTES && state.mails.len() > 1) {
            let Some(oldest) = state.mails.pop_back() else {
                break;
            };
            state.bytes -= oldest.size;
        }
    }

    /// All mails, newest first.
    #[must_use]
    pub fn list_mails(&self) -> Vec<Arc<StoredMail>> {
        self.lock().mails.iter().cloned().collect()
    }

    /// The mail of this id; `latest` is the newest one.
    #[must_use]
    pub fn find_mail(&self, id: &str) -> Option<Arc<StoredMail>> {
        let state = self.lock();
        if id == "latest" {
            state.mails.front().cloned()
        } else {
            state.mails.iter().find(|mail| mail.id == id).cloned()
        }
    }

    /// Marks the mails for which `wanted` is true as read or unread.
    pub fn mark_read(&self, read: bool, wanted: impl Fn(&StoredMail) -> bool) {
        for mail in &mut self.lock().mails {
            if mail.read != read && wanted(mail) {
                // Copies the mail if a request is still reading it; that request keeps the old state.
                Arc::make_mut(mail).read = read;
            }
        }
    }

    /// Removes the mails for which `wanted` is true.
    pub fn delete_mails(&self, wanted: impl Fn(&StoredMail) -> bool) {
        let mut state = self.lock();
        state.mails.retain(|mail| !wanted(mail));
        state.bytes = state.mails.iter().map(|mail| mail.size).sum();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock could at worst leave a wrong number of bytes, so the state is used all the same.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the addresses of a header; groups are flattened.
fn read_addresses(header: Option<&mail_parser::Address<'_>>) -> Vec<Address> {
    let named = header.into_iter().flat_map(|list| list.iter());
    named
        .map(|addr| Address {
            name: addr.name().unwrap_or_default().to_owned(),
            address: addr.address().unwrap_or_default().to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_mail(subject: &str) -> Mail {
        Mail {
            to: "a@b.c".to_owned(),
            subject: subject.to_owned(),
            html: "<p>x</p>".to_owned(),
            text: "x".to_owned(),
            message_type: String::new(),
            unsubscribe_url: None,
        }
    }

    #[test]
    fn full_inbox_drops_its_oldest_mail() {
        let inbox = Inbox::default();
        for number in 0..CAPACITY + 3 {
            inbox.deliver(&Sender::default(), build_mail(&number.to_string()));
        }

        let mails = inbox.list_mails();

        assert_eq!(mails.len(), CAPACITY);
        assert_eq!(
            (mails[0].subject.as_str(), mails[CAPACITY - 1].subject.as_str()),
            ("502", "3")
        );
    }

    #[test]
    fn raw_message_is_split_into_headers_and_bodies() {
        let inbox = Inbox::default();
        let raw = b"From: Shop <shop@example.com>\r\nTo: Ana <ana@example.com>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\nHello\r\n";

        inbox.deliver_raw(raw, &["ana@example.com".to_owned()]);

        let stored = inbox.find_mail("latest").expect("the mail is stored");
        assert_eq!((stored.subject.as_str(), stored.text.trim()), ("Grüße", "Hello"));
        assert_eq!(
            (stored.from.address.as_str(), stored.to[0].name.as_str()),
            ("shop@example.com", "Ana")
        );
    }
}
