//! `/api/mail`: the development inbox. The page with its own port, and its API, show the same messages.

use actix_web::{HttpResponse, web};
use selvedge_mail::{Inbox, inbox::StoredMail};
use serde::Deserialize;
use serde_json::{Value, json};

use super::outgoing;
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// The number of messages in one answer.
const MESSAGES_PER_PAGE: usize = 100;

/// The query of `GET /api/mail`.
#[derive(Deserialize)]
pub(super) struct ListQuery {
    search: Option<String>,
    /// The id of the last message that the page shows; the answer begins with the next older one.
    before: Option<String>,
}

/// `GET /api/mail?search=&before=`: newest first.
pub(super) async fn list(
    state: web::Data<ConsoleState>,
    query: web::Query<ListQuery>,
) -> Result<HttpResponse, ConsoleError> {
    let outgoing = outgoing::list(&state).await?;
    let Some(inbox) = &state.inbox else {
        return Ok(HttpResponse::Ok().json(json!({ "messages": [], "next": null, "outgoing": outgoing })));
    };
    let words: Vec<String> = query
        .search
        .as_deref()
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    let mails = inbox.list_mails();
    let after = query
        .before
        .as_ref()
        .map(|last| mails.iter().position(|mail| mail.id == *last));
    let start = match after {
        None => 0,
        // A message that was deleted since ends the list: its neighbours are not known any more.
        Some(position) => position.map_or(mails.len(), |index| index + 1),
    };
    let mut found = mails[start..].iter().filter(|mail| matches(mail, &words));
    let page: Vec<_> = found.by_ref().take(MESSAGES_PER_PAGE).collect();
    let next = found.next().and(page.last()).map(|mail| mail.id.clone());
    let messages: Vec<Value> = page.iter().map(|mail| summary(mail)).collect();
    Ok(HttpResponse::Ok().json(json!({ "messages": messages, "next": next, "outgoing": outgoing })))
}

/// Whether every word occurs somewhere in the message.
fn matches(mail: &StoredMail, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    // The HTML form is left out: its text is in the plain form, too, and words of its markup would be found.
    let recipients = mail.recipients().map(|address| address.address.as_str());
    let parts: Vec<&str> = [mail.subject.as_str(), &mail.from.address, &mail.text]
        .into_iter()
        .chain(recipients)
        .collect();
    let text = parts.join("\n").to_lowercase();
    words.iter().all(|word| text.contains(word))
}

fn summary(mail: &StoredMail) -> Value {
    json!({
        "id": mail.id,
        "time": mail.created_text(),
        "from": mail.from.address,
        "to": mail.recipients().map(|address| address.address.as_str()).collect::<Vec<_>>(),
        "subject": mail.subject,
        "snippet": mail.snippet(),
        "kind": if mail.text_message.is_some() { "sms" } else { "mail" },
        "read": mail.read,
    })
}

/// `GET /api/mail/{id}`
pub(super) async fn show(
    state: web::Data<ConsoleState>,
    session: Session,
    id: web::Path<String>,
) -> Result<HttpResponse, ConsoleError> {
    let inbox = inbox_of(&state)?;
    let mail = inbox.find_mail(&id).ok_or_else(not_there)?;
    // It may hold a code or a link that signs its recipient in.
    audit::record(&state, &session, AuditEntry::new("mail.read", &describe(&mail))).await?;
    inbox.mark_read(true, |mail| mail.id == *id);
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let mut body = summary(&mail);
    if let Value::Object(body) = &mut body {
        body.insert("html".into(), json!(given(&mail.html)));
        body.insert("text".into(), json!(given(&mail.text)));
        body.insert("headers".into(), json!(mail.headers));
        body.insert("attachments".into(), json!(mail.attachments));
        let code = mail
            .text_message
            .as_ref()
            .and_then(|message| message.code.as_deref());
        body.insert("code".into(), json!(code));
    }
    Ok(HttpResponse::Ok().json(body))
}

/// `DELETE /api/mail/{id}`
pub(super) async fn delete(
    state: web::Data<ConsoleState>,
    session: Session,
    id: web::Path<String>,
) -> Result<HttpResponse, ConsoleError> {
    let inbox = inbox_of(&state)?;
    let mail = inbox.find_mail(&id).ok_or_else(not_there)?;
    audit::record(&state, &session, AuditEntry::new("mail.delete", &describe(&mail))).await?;
    inbox.delete_mails(|mail| mail.id == *id);
    Ok(HttpResponse::NoContent().finish())
}

/// `DELETE /api/mail`: empties the inbox.
pub(super) async fn clear(
    state: web::Data<ConsoleState>,
    session: Session,
) -> Result<HttpResponse, ConsoleError> {
    let inbox = inbox_of(&state)?;
    let count = i64::try_from(inbox.list_mails().len()).unwrap_or(i64::MAX);
    audit::record(
        &state,
        &session,
        AuditEntry::new("mail.clear", "inbox").with_rows(count),
    )
    .await?;
    inbox.delete_mails(|_| true);
    Ok(HttpResponse::NoContent().finish())
}

/// Recipients and subject, for the audit.
fn describe(mail: &StoredMail) -> String {
    let recipients: Vec<&str> = mail
        .recipients()
        .map(|address| address.address.as_str())
        .collect();
    format!("{}: {}", recipients.join(", "), mail.subject)
}

fn inbox_of(state: &ConsoleState) -> Result<&Inbox, ConsoleError> {
    state
        .inbox
        .as_ref()
        .ok_or_else(|| ConsoleError::not_found("Mail goes to an SMTP server, so there is no inbox"))
}

fn not_there() -> ConsoleError {
    ConsoleError::not_found("This message is not in the inbox any more")
}
