//! Mails that tell a user what has changed. They go out after the change, and never make it fail.

use chrono::TimeDelta;
use selvedge_mail::{MailFields, MailKind};
use uuid::Uuid;

use super::check_mail;
use super::post::{HookData, Post};
use crate::error::AuthError;
use crate::request::RequestInfo;
use crate::state::AuthState;
use crate::store::users;
use crate::user::User;

/// A notice is worth sending for some days.
const LIFE: TimeDelta = TimeDelta::days(3);

/// What has changed, besides the kind of mail.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Notice<'a> {
    pub(crate) old_email: &'a str,
    pub(crate) old_phone: &'a str,
    pub(crate) provider: &'a str,
    pub(crate) factor_type: &'a str,
}

/// Tells `user` (as they are now), if the project wants that and the user has an address. To be called after the commit.
pub(crate) async fn notify(
    state: &AuthState,
    info: &RequestInfo,
    user: &User,
    kind: MailKind,
    notice: Notice<'_>,
) {
    let to = match kind {
        MailKind::EmailChanged => notice.old_email,
        _ => user.email.as_str(),
    };
    if to.is_empty() || !state.config.email.notifications.contains(&kind) {
        return;
    }
    if let Err(error) = send(state, info, user, kind, to, notice).await {
        tracing::warn!(%error, ?kind, "a notice could not be sent");
    }
}

/// Tells a user that a way to sign in was added or removed.
pub(crate) async fn notify_of_identity(
    state: &AuthState,
    info: &RequestInfo,
    user_id: Uuid,
    kind: MailKind,
    provider: &str,
) {
    if !state.config.email.notifications.contains(&kind) {
        return;
    }
    let found = async {
        let client = state.client().await?;
        Ok::<_, AuthError>(users::find_by_id(&client, user_id).await?)
    };
    match found.await {
        Ok(Some(user)) => {
            let notice = Notice {
                provider,
                ..Notice::default()
            };
            notify(state, info, &user, kind, notice).await;
        }
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, ?kind, "a notice could not be sent"),
    }
}

async fn send(
    state: &AuthState,
    info: &RequestInfo,
    user: &User,
    kind: MailKind,
    to: &str,
    notice: Notice<'_>,
) -> Result<(), AuthError> {
    check_mail(state, to)?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    if let Some(hook) = Post::hook(state) {
        let data = HookData {
            old_email: notice.old_email,
            old_phone: notice.old_phone,
            provider: notice.provider,
            factor_type: notice.factor_type,
            ..HookData::default()
        };
        hook.send(state, &db, info, user, kind, &data).await?;
    } else {
        let fields = MailFields {
            site_url: state.config.site_url.clone(),
            email: user.email.clone(),
            sending_to: to.to_owned(),
            old_email: notice.old_email.to_owned(),
            phone: user.phone.clone(),
            old_phone: notice.old_phone.to_owned(),
            provider: notice.provider.to_owned(),
            factor_type: notice.factor_type.to_owned(),
            data: user.user_metadata.clone(),
            ..MailFields::default()
        };
        Post { life: LIFE }.send(state, &db, kind, to, &fields).await?;
    }
    Ok(db.commit().await?)
}
