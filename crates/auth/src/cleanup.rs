//! Deletes expired rows, so that tables do not grow with every sign-in.
//!
//! Source: Auth contract §6, "Clean-up".

use std::time::Duration;

use actix_web::web;

use crate::error::AuthError;
use crate::state::AuthState;
use crate::store::cleanup::{self, CleanupRules};
use crate::store::user_list;

const INTERVAL: Duration = Duration::from_secs(600);

/// Deletes expired rows every ten minutes until the future is dropped. To be run once per process, outside of
/// the request threads.
pub async fn delete_expired_rows_forever(state: web::Data<AuthState>) {
    // Once for each database: after an upgrade, and when its triggers were made anew.
    let mut corrections = match count_users_once(&state).await {
        Ok(corrections) => corrections,
        Err(error) => {
            tracing::warn!(%error, "the users could not be counted: their list counts them itself");
            None
        }
    };
    let mut tick = tokio::time::interval(INTERVAL);
    // The first tick comes at once: it is skipped, so that cleaning up does not slow down the start.
    tick.tick().await;
    loop {
        tick.tick().await;
        clean_up(&state, &mut corrections).await;
    }
}

/// How often the number of users was corrected so far, if it need not be corrected now.
async fn count_users_once(state: &AuthState) -> Result<Option<i64>, AuthError> {
    let client = state.connect().await?;
    match user_list::are_counts_kept(&client).await? {
        true => Ok(None),
        false => Ok(user_list::correct_counts(&client, None).await?),
    }
}

/// Deletes the rows that have expired by now, in small batches, see [`delete_expired_rows_forever`]. A failure is logged.
pub async fn delete_expired_rows(state: &AuthState) {
    clean_up(state, &mut None).await;
}

async fn clean_up(state: &AuthState, corrections: &mut Option<i64>) {
    match delete_all_kinds(state, corrections).await {
        Ok(0) => {}
        Ok(rows) => tracing::debug!(rows, "expired auth rows deleted"),
        Err(error) => tracing::warn!(%error, "expired auth rows could not be deleted"),
    }
}

/// Deletes the expired rows of every kind, and corrects the number of users unless another node has; returns how many were deleted.
async fn delete_all_kinds(state: &AuthState, corrections: &mut Option<i64>) -> Result<u64, AuthError> {
    let sessions = &state.config.sessions;
    let rules = CleanupRules {
        timebox: sessions.timebox,
        inactivity: sessions.inactivity_timeout,
        anonymous_users: state.config.delete_old_anonymous_users,
    };
    let client = state.connect().await?;
    let deleted = cleanup::delete_expired_rows(&client, &rules).await;
    // Also when rows cannot be deleted, which may be so each time: the kept counts would grow by a row with each sign-up.
    *corrections = user_list::correct_counts(&client, *corrections).await?;
    Ok(deleted?)
}
