//! Removes what has no use any more, a little at a time, so that tables do not grow with every sign-in ever made.
//!
//! Source: Auth contract §6, "Clean-up".

use std::time::Duration;

use actix_web::web;

use crate::error::AuthError;
use crate::state::AuthState;
use crate::store::stale::{self, Limits};

const INTERVAL: Duration = Duration::from_secs(600);

/// Sweeps until it is dropped; run it once per process, away from the request threads.
pub async fn sweep_forever(state: web::Data<AuthState>) {
    let mut tick = tokio::time::interval(INTERVAL);
    // Not at the start, which has better things to do.
    tick.tick().await;
    loop {
        tick.tick().await;
        match sweep(&state).await {
            Ok(0) => {}
            Ok(rows) => tracing::debug!(rows, "stale auth rows removed"),
            Err(error) => tracing::warn!(%error, "stale auth rows could not be removed"),
        }
    }
}

/// One round; the number of rows removed.
async fn sweep(state: &AuthState) -> Result<u64, AuthError> {
    let sessions = &state.config.sessions;
    let limits = Limits {
        timebox: sessions.timebox,
        inactivity: sessions.inactivity_timeout,
        anonymous_users: state.config.delete_old_anonymous_users,
    };
    let client = state.client().await?;
    Ok(stale::delete(&client, &limits).await?)
}
