//! The JSON API of the inbox: the part of Mailpit's API that test suites of Supabase projects poll.

use std::sync::Arc;

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Inbox, StoredMail};

/// Mails of one page when the request names no limit; Mailpit's default.
const DEFAULT_LIMIT: usize = 50;

/// Query parameters of lists: position of the first mail, number of mails, search.
#[derive(Debug, Deserialize)]
pub(super) struct ListQuery {
    start: Option<usize>,
    limit: Option<usize>,
    query: Option<String>,
}

/// The mails that an update or a deletion applies to; without ids, all of them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Selection {
    #[serde(rename = "IDs", alias = "ids")]
    ids: Vec<String>,
    read: bool,
}

/// `GET /api/v1/info`
pub(super) async fn get_info(inbox: web::Data<Inbox>) -> HttpResponse {
    let mails = inbox.list_mails();
    HttpResponse::Ok().json(json!({
        "Version": concat!("selvedge ", env!("CARGO_PKG_VERSION")),
        "Messages": mails.len(),
        "Unread": count_unread(&mails),
    }))
}

/// `GET /api/v1/messages?start=&limit=`: newest first.
pub(super) async fn list_messages(inbox: web::Data<Inbox>, query: web::Query<ListQuery>) -> HttpResponse {
    let all = inbox.list_mails();
    HttpResponse::Ok().json(render_page(&all, &all, &query))
}

/// `GET /api/v1/search?query=`: all words must occur; `to:`, `from:`, `subject:`, `tag:sms|whatsapp` and `is:read|unread`
/// restrict where.
pub(super) async fn search_messages(inbox: web::Data<Inbox>, query: web::Query<ListQuery>) -> HttpResponse {
    let all = inbox.list_mails();
    let terms = parse_search(query.query.as_deref().unwrap_or_default());
    let found: Vec<_> = all
        .iter()
        .filter(|mail| matches_all(mail, &terms))
        .cloned()
        .collect();
    HttpResponse::Ok().json(render_page(&all, &found, &query))
}

/// `DELETE /api/v1/search?query=`
pub(super) async fn delete_found_messages(
    inbox: web::Data<Inbox>,
    query: web::Query<ListQuery>,
) -> HttpResponse {
    let terms = parse_search(query.query.as_deref().unwrap_or_default());
    inbox.delete_mails(|mail| matches_all(mail, &terms));
    HttpResponse::Ok().content_type("text/plain").body("ok")
}

/// `GET /api/v1/message/{id}`, where the id `latest` is the newest mail. Reading a mail marks it as read.
pub(super) async fn get_message(inbox: web::Data<Inbox>, id: web::Path<String>) -> HttpResponse {
    let Some(mail) = inbox.find_mail(&id) else {
        return respond_not_found();
    };
    inbox.mark_read(true, |other| other.id == mail.id);
    let mut body = render_summary(&mail);
    // Compat: Mailpit has these members in lists only.
    for left_out in ["Read", "Created", "Snippet"] {
        body.shift_remove(left_out);
    }
    body.insert("ReturnPath".to_owned(), json!(mail.from.address));
    body.insert("Date".to_owned(), json!(mail.created_text()));
    body.insert("Text".to_owned(), json!(mail.text));
    body.insert("HTML".to_owned(), json!(mail.html));
    body.insert("Inline".to_owned(), json!([]));
    body.insert("Attachments".to_owned(), json!([]));
    HttpResponse::Ok().json(body)
}

/// `GET /api/v1/message/{id}/raw`
pub(super) async fn get_source(inbox: web::Data<Inbox>, id: web::Path<String>) -> HttpResponse {
    match inbox.find_mail(&id) {
        Some(mail) => HttpResponse::Ok()
            .content_type("text/plain; charset=utf-8")
            .body(mail.source()),
        None => respond_not_found(),
    }
}

/// `GET /api/v1/message/{id}/headers`: name → list of values.
pub(super) async fn get_headers(inbox: web::Data<Inbox>, id: web::Path<String>) -> HttpResponse {
    let Some(mail) = inbox.find_mail(&id) else {
        return respond_not_found();
    };
    let mut headers: Map<String, Value> = Map::new();
    for (name, value) in &mail.headers {
        if let Value::Array(values) = headers.entry(name.clone()).or_insert_with(|| json!([])) {
            values.push(json!(value));
        }
    }
    HttpResponse::Ok().json(headers)
}

/// `PUT /api/v1/messages` `{IDs, Read}`
/// Compat: an unreadable body counts as an empty selection, that is, all mails.
pub(super) async fn mark_messages(inbox: web::Data<Inbox>, body: web::Bytes) -> HttpResponse {
    let selection: Selection = serde_json::from_slice(&body).unwrap_or_default();
    inbox.mark_read(selection.read, |mail| {
        selection.ids.is_empty() || selection.ids.contains(&mail.id)
    });
    HttpResponse::Ok().content_type("text/plain").body("ok")
}

/// `DELETE /api/v1/messages` `{IDs?}`
pub(super) async fn delete_messages(inbox: web::Data<Inbox>, body: web::Bytes) -> HttpResponse {
    let selection: Selection = serde_json::from_slice(&body).unwrap_or_default();
    inbox.delete_mails(|mail| selection.ids.is_empty() || selection.ids.contains(&mail.id));
    HttpResponse::Ok().content_type("text/plain").body("ok")
}

/// 404 with the text of Mailpit.
fn respond_not_found() -> HttpResponse {
    HttpResponse::NotFound()
        .content_type("text/plain")
        .body("Error: message not found")
}

fn count_unread(mails: &[Arc<StoredMail>]) -> usize {
    mails.iter().filter(|mail| !mail.read).count()
}

/// One page of `found`, with the counts of Mailpit: `total` and `unread` are of the whole inbox.
fn render_page(all: &[Arc<StoredMail>], found: &[Arc<StoredMail>], query: &ListQuery) -> Value {
    let start = query.start.unwrap_or(0);
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    let messages: Vec<_> = found
        .iter()
        .skip(start)
        .take(limit)
        .map(|mail| Value::Object(render_summary(mail)))
        .collect();
    json!({
        "total": all.len(),
        "unread": count_unread(all),
        "count": messages.len(),
        "messages_count": found.len(),
        "messages_unread": count_unread(found),
        "start": start,
        "tags": [],
        "messages": messages,
    })
}

/// The members that a mail has in lists. Text messages have a tag with their channel, and `Code`, which Mailpit does not
/// know.
fn render_summary(mail: &StoredMail) -> Map<String, Value> {
    let details = mail.text_message.as_ref();
    let tags: Vec<&str> = details.iter().map(|details| details.channel.name()).collect();
    let mut body = json!({
        "ID": mail.id,
        "MessageID": mail.id,
        "Read": mail.read,
        "From": mail.from,
        "To": mail.to,
        "Cc": mail.cc,
        "Bcc": [],
        "ReplyTo": [],
        "Subject": mail.subject,
        "Created": mail.created_text(),
        "Username": "",
        "Tags": tags,
        "Size": mail.size,
        "Attachments": mail.attachments,
        "Snippet": mail.snippet(),
    });
    if let Some(details) = details {
        body["Code"] = json!(details.code);
    }
    match body {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// One search term: the text, the part of the mail in which it must occur, and whether it must not.
struct SearchTerm {
    place: Option<String>,
    text: String,
    negated: bool,
}

/// Splits a query at spaces outside quotes, and takes a known prefix such as `to:` off each term. A leading `-` or `!`
/// negates the term.
fn parse_search(query: &str) -> Vec<SearchTerm> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in query.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(String::new()),
            c => words
                .last_mut()
                .expect("there is always a word")
                .extend(c.to_lowercase()),
        }
    }
    // Other words with a colon, such as a URL, are searched as they are.
    let known = [
        "to",
        "from",
        "subject",
        "tag",
        "is",
        "addressed",
        "cc",
        "id",
        "message-id",
    ];
    let words = words.into_iter().filter(|word| !word.is_empty());
    words
        .map(|word| {
            let negated = word.starts_with(['-', '!']);
            let word = word.trim_start_matches(['-', '!']).to_owned();
            match word.split_once(':').filter(|(place, _)| known.contains(place)) {
                Some((place, text)) => SearchTerm {
                    place: Some(place.to_owned()),
                    text: text.to_owned(),
                    negated,
                },
                None => SearchTerm {
                    place: None,
                    text: word,
                    negated,
                },
            }
        })
        .collect()
}

/// Whether every term holds for the mail.
fn matches_all(mail: &StoredMail, terms: &[SearchTerm]) -> bool {
    terms.iter().all(|term| occurs(mail, term) != term.negated)
}

/// Whether the term's text occurs in its part of the mail, before negation.
fn occurs(mail: &StoredMail, term: &SearchTerm) -> bool {
    let contains = |text: &str| text.to_lowercase().contains(&term.text);
    let names = |address: &super::Address| contains(&address.address) || contains(&address.name);
    match term.place.as_deref() {
        Some("to") => mail.to.iter().any(names),
        Some("cc") => mail.cc.iter().any(names),
        Some("from") => names(&mail.from),
        Some("addressed") => mail.recipients().any(names) || names(&mail.from),
        Some("subject") => contains(&mail.subject),
        Some("tag") => {
            let channel = mail.text_message.as_ref().map(|details| details.channel.name());
            channel.is_some_and(|name| name.eq_ignore_ascii_case(&term.text))
        }
        Some("is") => mail.read == (term.text == "read"),
        // `id` and `message-id`: this inbox uses one id for both.
        Some(_) => mail.id == term.text,
        None => {
            contains(&mail.subject)
                || contains(&mail.text)
                || names(&mail.from)
                || mail.recipients().any(names)
        }
    }
}
