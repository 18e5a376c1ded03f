//! Looks for a newer primary because somebody has seen it, and not only when it is time to.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_postgres::Config;

use super::connector::{Connector, NEXT_HOST_TIMEOUT};
use super::last_host::has_standbys;

/// Time from one search to the next. A client may name any timeline.
const SEARCH_SPACING: Duration = Duration::from_millis(200);

/// What a process knows of the newest primary, and how it learns more.
pub(crate) struct NewerPrimary {
    connector: Connector,
    config: Config,
    searches: Mutex<Searches>,
}

/// When the last search began, and when that one did which came to its end last: whoever waits for a search may go away.
#[derive(Default)]
struct Searches {
    begun: Option<Instant>,
    ended: Option<Instant>,
}

impl NewerPrimary {
    /// Nobody has searched yet.
    pub(crate) fn new(connector: Connector, config: Config) -> Self {
        Self {
            connector,
            config,
            searches: Mutex::default(),
        }
    }

    /// The highest timeline of a primary so far; 0 when none is known.
    pub(crate) fn timeline(&self) -> u32 {
        self.connector.last_host.timeline()
    }

    /// Returns once a primary of this timeline or a higher one is known here, or none was found. Connections to a former one have ended by then.
    pub(crate) async fn follow(&self, timeline: u32) {
        let asked = Instant::now();
        if self.timeline() >= timeline {
            return;
        }
        let mut searches = self.searches.lock().await;
        // A search that began after this question has answered it.
        if self.timeline() >= timeline || searches.ended.is_some_and(|begun| begun > asked) {
            return;
        }
        if let Some(begun) = searches.begun {
            sleep_until(begun + SEARCH_SPACING).await;
        }
        let begun = Instant::now();
        searches.begun = Some(begun);
        if has_standbys(&self.config) {
            self.connector.find_newest_primary(&self.config).await;
        } else if self.connector.last_host.is_one_name() {
            timeout(NEXT_HOST_TIMEOUT, self.connector.open(&self.config))
                .await
                .ok();
        }
        searches.ended = Some(begun);
        // The tasks of connections to the former one run before this one goes on.
        tokio::task::yield_now().await;
    }
}
