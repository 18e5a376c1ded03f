//! The JSON API of the inbox: the part of Mailpit's that tests of Supabase projects poll.

use std::sync::Arc;

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Inbox, StoredMail};

const DEFAULT_LIMIT: usize = 50;

/// Paging and search of a list.
#[derive(Debug, Deserialize)]
pub(super) struct ListQuery {
    start: Option<usize>,
    limit: Option<usize>,
    query: Option<String>,
}

/// Which mails an update or a delete is about; no ids means all.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Selection {
    #[serde(rename = "IDs", alias = "ids")]
    ids: Vec<String>,
    read: bool,
}

/// `GET /api/v1/info`
pub(super) async fn info(inbox: web::Data<Inbox>) -> HttpResponse {
    let mails = inbox.list();
    HttpResponse::Ok().json(json!({
        "Version": concat!("selvedge ", env!("CARGO_PKG_VERSION")),
        "Messages": mails.len(),
        "Unread": unread(&mails),
    }))
}

/// `GET /api/v1/messages?start=&limit=`: newest first.
pub(super) async fn list_messages(inbox: web::Data<Inbox>, query: web::Query<ListQuery>) -> HttpResponse {
    let all = inbox.list();
    HttpResponse::Ok().json(page_of(&all, &all, &query))
}

/// `GET /api/v1/search?query=`: words must all occur; `to:`, `from:`, `subject:`, `is:read|unread` narrow the place.
pub(super) async fn search_messages(inbox: web::Data<Inbox>, query: web::Query<ListQuery>) -> HttpResponse {
    let all = inbox.list();
    let terms = search_terms(query.query.as_deref().unwrap_or_default());
    let found: Vec<_> = all.iter().filter(|mail| matches(mail, &terms)).cloned().collect();
    HttpResponse::Ok().json(page_of(&all, &found, &query))
}

/// `DELETE /api/v1/search?query=`
pub(super) async fn delete_found_messages(
    inbox: web::Data<Inbox>,
    query: web::Query<ListQuery>,
) -> HttpResponse {
    let terms = search_terms(query.query.as_deref().unwrap_or_default());
    inbox.delete(|mail| matches(mail, &terms));
    HttpResponse::Ok().content_type("text/plain").body("ok")
}

/// `GET /api/v1/message/{id}`; `latest` is an id. Opening a mail marks it as read.
pub(super) async fn get_message(inbox: web::Data<Inbox>, id: web::Path<String>) -> HttpResponse {
    let Some(mail) = inbox.find(&id) else {
        return not_found();
    };
    inbox.mark(true, |other| other.id == mail.id);
    let mut body = summary(&mail);
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
    match inbox.find(&id) {
        Some(mail) => HttpResponse::Ok()
            .content_type("text/plain; charset=utf-8")
            .body(mail.source()),
        None => not_found(),
    }
}

/// `GET /api/v1/message/{id}/headers`: name → list of values.
pub(super) async fn get_headers(inbox: web::Data<Inbox>, id: web::Path<String>) -> HttpResponse {
    let Some(mail) = inbox.find(&id) else {
        return not_found();
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
pub(super) async fn mark_messages(inbox: web::Data<Inbox>, body: web::Bytes) -> HttpResponse {
    let selection: Selection = serde_json::from_slice(&body).unwrap_or_default();
    inbox.mark(selection.read, |mail| {
        selection.ids.is_empty() || selection.ids.contains(&mail.id)
    });
    HttpResponse::Ok().content_type("text/plain").body("ok")
}

/// `DELETE /api/v1/messages` `{IDs?}`
pub(super) async fn delete_messages(inbox: web::Data<Inbox>, body: web::Bytes) -> HttpResponse {
    let selection: Selection = serde_json::from_slice(&body).unwrap_or_default();
    inbox.delete(|mail| selection.ids.is_empty() || selection.ids.contains(&mail.id));
    HttpResponse::Ok().content_type("text/plain").body("ok")
}

fn not_found() -> HttpResponse {
    HttpResponse::NotFound()
        .content_type("text/plain")
        .body("Error: message not found")
}

fn unread(mails: &[Arc<StoredMail>]) -> usize {
    mails.iter().filter(|mail| !mail.read).count()
}

fn page_of(all: &[Arc<StoredMail>], found: &[Arc<StoredMail>], query: &ListQuery) -> Value {
    let start = query.start.unwrap_or(0);
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    let messages: Vec<_> = found
        .iter()
        .skip(start)
        .take(limit)
        .map(|mail| Value::Object(summary(mail)))
        .collect();
    json!({
        "total": all.len(),
        "unread": unread(all),
        "count": messages.len(),
        "messages_count": found.len(),
        "messages_unread": unread(found),
        "start": start,
        "tags": [],
        "messages": messages,
    })
}

fn summary(mail: &StoredMail) -> Map<String, Value> {
    let body = json!({
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
        "Tags": [],
        "Size": mail.size,
        "Attachments": mail.attachments,
        "Snippet": mail.snippet(),
    });
    match body {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// One search term: where it must occur, and what.
struct SearchTerm {
    place: Option<String>,
    text: String,
    negated: bool,
}

/// Splits at spaces outside quotes, and a `place:` prefix off each term.
fn search_terms(query: &str) -> Vec<SearchTerm> {
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
    let known = [
        "to",
        "from",
        "subject",
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

fn matches(mail: &StoredMail, terms: &[SearchTerm]) -> bool {
    terms.iter().all(|term| occurs(mail, term) != term.negated)
}

fn occurs(mail: &StoredMail, term: &SearchTerm) -> bool {
    let contains = |text: &str| text.to_lowercase().contains(&term.text);
    let names = |address: &super::Address| contains(&address.address) || contains(&address.name);
    match term.place.as_deref() {
        Some("to") => mail.to.iter().any(names),
        Some("cc") => mail.cc.iter().any(names),
        Some("from") => names(&mail.from),
        Some("addressed") => mail.recipients().any(names) || names(&mail.from),
        Some("subject") => contains(&mail.subject),
        Some("is") => mail.read == (term.text == "read"),
        Some(_) => mail.id == term.text,
        None => {
            contains(&mail.subject)
                || contains(&mail.text)
                || names(&mail.from)
                || mail.recipients().any(names)
        }
    }
}
