//! Work that a request leaves for the time after its transaction: flows record it here, the middleware in
//! `routes` runs it.
//!
//! The records belong to the task of one request. They are dropped when the request fails or its client
//! disconnects, so nothing here may be needed for correctness: whatever must not be lost is a row of the
//! database, such as a queued mail.

use std::cell::RefCell;
use std::future::Future;

use actix_web::http::header::HeaderValue;
use selvedge_mail::MailKind;

use crate::request::AuthRequest;
use crate::user::User;

/// Everything that one request has recorded.
#[derive(Default)]
pub(crate) struct AfterCommit {
    /// Whether a mail was put into the queue, so that the delivery loop is to be woken.
    pub(crate) has_mail: bool,
    /// Users that were created, for the hook `after_user_created`.
    pub(crate) created_users: Vec<(AuthRequest, User)>,
    /// Changes that the user is to learn of by mail.
    pub(crate) notices: Vec<AccountNotice>,
    /// Headers that the response carries only if the request fails.
    pub(crate) error_headers: Vec<(&'static str, HeaderValue)>,
}

/// A change of an account that a mail tells its user about.
pub(crate) struct AccountNotice {
    pub(crate) request: AuthRequest,
    /// The user before the change, whose address gets the mail: the change may have been made by somebody else. For
    /// [`MailKind::EmailChanged`] the user has the new address already.
    pub(crate) user: User,
    pub(crate) kind: MailKind,
    /// The name of the provider whose identity was linked or unlinked, as in `auth.identities.provider`; else empty.
    pub(crate) provider: String,
    /// The address before [`MailKind::EmailChanged`]; else empty.
    pub(crate) old_email: String,
}

tokio::task_local! {
    static RECORDS: RefCell<AfterCommit>;
}

/// Runs a handler and returns its response together with what it has recorded.
pub(crate) async fn collect_records<T>(handler: impl Future<Output = T>) -> (T, AfterCommit) {
    RECORDS
        .scope(RefCell::default(), async {
            let response = handler.await;
            (response, RECORDS.with(RefCell::take))
        })
        .await
}

/// Records that a mail was put into the queue.
pub(crate) fn record_queued_mail() {
    record(|records| records.has_mail = true);
}

/// Records a header for the error response of this request; a successful response sets its own headers.
pub(crate) fn record_error_header(name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        record(|records| records.error_headers.push((name, value)));
    }
}

/// Records that a user was created.
pub(crate) fn record_created_user(request: &AuthRequest, user: &User) {
    record(|records| records.created_users.push((request.clone(), user.clone())));
}

/// Records that an identity was linked to a user or unlinked from one. `user` is the user before it.
pub(crate) fn record_identity_change(request: &AuthRequest, user: &User, kind: MailKind, provider: &str) {
    record(|records| {
        records.notices.push(AccountNotice {
            request: request.clone(),
            user: user.clone(),
            kind,
            provider: provider.to_owned(),
            old_email: String::new(),
        });
    });
}

/// Records that a passkey was added to a user or removed from one.
pub(crate) fn record_passkey_change(request: &AuthRequest, user: &User, kind: MailKind) {
    record_identity_change(request, user, kind, "");
}

/// Records that a user got another address without answering a mail. `user` is the user before it.
pub(crate) fn record_email_change(request: &AuthRequest, user: &User, email: &str) {
    record(|records| {
        records.notices.push(AccountNotice {
            request: request.clone(),
            user: User {
                email: email.to_owned(),
                ..user.clone()
            },
            kind: MailKind::EmailChanged,
            provider: String::new(),
            old_email: user.email.clone(),
        });
    });
}

/// Records that ways to sign in were forgotten when the address of `user` was proven, because somebody else may have set them.
pub(crate) fn record_forgotten_credentials(request: &AuthRequest, user: &User) {
    record(|records| {
        records.notices.push(AccountNotice {
            request: request.clone(),
            user: user.clone(),
            kind: MailKind::CredentialsForgotten,
            provider: String::new(),
            old_email: String::new(),
        });
    });
}

fn record(change: impl FnOnce(&mut AfterCommit)) {
    // Outside of a request (the delivery loop, unit tests) there is nobody to run the records, so they are dropped.
    let _ = RECORDS.try_with(|records| change(&mut records.borrow_mut()));
}
