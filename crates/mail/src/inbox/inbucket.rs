//! The API of Inbucket, which the Supabase CLI used before Mailpit; older test suites still poll it. Lists have the
//! oldest mail first.

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};

use super::{Inbox, StoredMail};

/// `GET /api/v1/mailbox/{name}`. The name of a mailbox is the local part of an address, or the whole address.
pub(super) async fn list_mailbox(inbox: web::Data<Inbox>, name: web::Path<String>) -> HttpResponse {
    let mails = inbox.list_mails();
    let found: Vec<_> = mails
        .iter()
        // The store has the newest first, Inbucket the oldest.
        .rev()
        .filter(|mail| belongs_to(mail, &name))
        .map(|mail| render_entry(mail, &name))
        .collect();
    HttpResponse::Ok().json(found)
}

/// `GET /api/v1/mailbox/{name}/{id}`, where the id `latest` is the newest mail of that mailbox.
pub(super) async fn get_message(inbox: web::Data<Inbox>, path: web::Path<(String, String)>) -> HttpResponse {
    let (name, id) = path.into_inner();
    let mails = inbox.list_mails();
    let Some(mail) = mails
        .iter()
        .find(|mail| belongs_to(mail, &name) && (id == "latest" || mail.id == id))
    else {
        return HttpResponse::NotFound().body("404 page not found");
    };
    let mut body = render_entry(mail, &name);
    body["body"] = json!({"text": mail.text, "html": mail.html});
    body["header"] = mail
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), json!([value])))
        .collect();
    HttpResponse::Ok().json(body)
}

/// `DELETE /api/v1/mailbox/{name}`
pub(super) async fn purge_mailbox(inbox: web::Data<Inbox>, name: web::Path<String>) -> HttpResponse {
    inbox.delete_mails(|mail| belongs_to(mail, &name));
    HttpResponse::Ok().json("OK")
}

fn belongs_to(mail: &StoredMail, mailbox: &str) -> bool {
    mail.recipients().any(|to| {
        let local = to.address.split('@').next().unwrap_or_default();
        to.address.eq_ignore_ascii_case(mailbox) || local.eq_ignore_ascii_case(mailbox)
    })
}

/// The entry of a mail in a list.
fn render_entry(mail: &StoredMail, mailbox: &str) -> Value {
    json!({
        "mailbox": mailbox,
        "id": mail.id,
        "from": format!("{} <{}>", mail.from.name, mail.from.address),
        "to": mail.to.iter().map(|to| format!("<{}>", to.address)).collect::<Vec<_>>(),
        "subject": mail.subject,
        "date": mail.created_text(),
        "posix-millis": mail.created.timestamp_millis(),
        "size": mail.size,
        "seen": mail.read,
    })
}
