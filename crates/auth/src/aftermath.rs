//! What a request leaves to be done once its transaction is committed: the handler notes it, the service's middleware does it.
//!
//! A note is bound to the request's own task. A request that fails, or whose client hangs up, does nothing afterwards; whatever
//! must not be lost is a row of the database, and noticed by the next look at it.

use std::cell::RefCell;
use std::future::Future;

use actix_web::http::header::HeaderValue;
use selvedge_mail::MailKind;
use uuid::Uuid;

use crate::request::RequestInfo;
use crate::user::User;

/// The notes of one request.
#[derive(Debug, Default)]
pub(crate) struct Aftermath {
    /// A mail was promised.
    pub(crate) has_mail: bool,
    /// Users that were created.
    pub(crate) created: Vec<(RequestInfo, User)>,
    /// Ways to sign in that users have won or lost: whose, which mail tells, the provider.
    pub(crate) identities: Vec<(RequestInfo, Uuid, MailKind, String)>,
    /// What a refusal says in its headers.
    pub(crate) headers: Vec<(&'static str, HeaderValue)>,
}

tokio::task_local! {
    static NOTES: RefCell<Aftermath>;
}

/// Runs a handler and returns its notes with its answer.
pub(crate) async fn collect<T>(handler: impl Future<Output = T>) -> (T, Aftermath) {
    NOTES
        .scope(RefCell::default(), async {
            let answer = handler.await;
            (answer, NOTES.with(RefCell::take))
        })
        .await
}

/// Notes that a mail was promised.
pub(crate) fn mail_was_queued() {
    let _ = NOTES.try_with(|notes| notes.borrow_mut().has_mail = true);
}

/// Notes a header that the answer carries although the call fails; success writes its own.
pub(crate) fn header_of_refusal(name: &'static str, value: &str) {
    let Ok(value) = HeaderValue::from_str(value) else {
        return;
    };
    let _ = NOTES.try_with(|notes| notes.borrow_mut().headers.push((name, value)));
}

/// Notes that a user was created.
pub(crate) fn user_was_created(info: &RequestInfo, user: &User) {
    let _ = NOTES.try_with(|notes| notes.borrow_mut().created.push((info.clone(), user.clone())));
}

/// Notes that a user has won or lost a way to sign in.
pub(crate) fn identity_changed(info: &RequestInfo, user_id: Uuid, kind: MailKind, provider: &str) {
    let note = (info.clone(), user_id, kind, provider.to_owned());
    let _ = NOTES.try_with(|notes| notes.borrow_mut().identities.push(note));
}
