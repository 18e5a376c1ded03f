//! What tells a server from others that answer, or have answered, at the same address.

use super::timeline::parse_timeline;

/// Returns one value: the timeline as [`TIMELINE_QUERY`] does, or `standby`, and the number that `initdb` gave to the cluster.
pub(crate) const IDENTITY_QUERY: &str = "select pg_catalog.concat(case when pg_catalog.pg_is_in_recovery() then 'standby'::pg_catalog.text \
    else pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) end, ' '::pg_catalog.text, system_identifier) \
    from pg_catalog.pg_control_system()";

/// What a server says about itself. What it does not say is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ServerIdentity {
    /// The timeline on which it writes.
    pub(crate) timeline: Option<u32>,
    /// The number of its cluster; only one name is asked for it.
    pub(crate) system: Option<u64>,
    /// Whether one name has led to a standby.
    pub(crate) is_standby: bool,
}

impl From<Option<u32>> for ServerIdentity {
    fn from(timeline: Option<u32>) -> Self {
        Self {
            timeline,
            ..Self::default()
        }
    }
}

impl ServerIdentity {
    /// Reads the value of [`IDENTITY_QUERY`].
    pub(crate) fn parse(text: &str) -> Self {
        let (timeline, system) = text.split_once(' ').unwrap_or((text, ""));
        Self {
            timeline: parse_timeline(timeline),
            system: system.parse().ok(),
            is_standby: timeline == "standby",
        }
    }
}
