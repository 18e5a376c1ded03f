//! The topic of a channel: a name in one of two namespaces, public or private.

use std::sync::Arc;

/// Prefix of every channel topic in frames; `supabase.channel("room")` joins `realtime:room`.
pub(crate) const PREFIX: &str = "realtime:";

/// The topic of a channel. Cheap to clone.
///
/// A private and a public topic of one name are different topics (realtime contract §5.1): policies guard only the
/// private one, so its messages must not reach members that joined without a check.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Topic {
    inner: Arc<Inner>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Inner {
    /// The name with the prefix `realtime:`, as in frames.
    wire_name: Box<str>,
    is_private: bool,
}

impl Topic {
    /// The topic with this name, given without the prefix.
    pub(crate) fn new(name: &str, is_private: bool) -> Self {
        Self::from_wire(&format!("{PREFIX}{name}"), is_private)
    }

    /// The topic with this name, given with the prefix, as in frames.
    pub(crate) fn from_wire(wire_name: &str, is_private: bool) -> Self {
        debug_assert!(wire_name.starts_with(PREFIX), "{wire_name}");
        Self {
            inner: Arc::new(Inner {
                wire_name: wire_name.into(),
                is_private,
            }),
        }
    }

    /// The topic with this name, given with the prefix; `None` without the prefix or without a name.
    pub(crate) fn parse_wire(wire_name: &str, is_private: bool) -> Option<Self> {
        let has_name = wire_name
            .strip_prefix(PREFIX)
            .is_some_and(|name| !name.is_empty());
        has_name.then(|| Self::from_wire(wire_name, is_private))
    }

    /// The name without the prefix: what the user passed to `supabase.channel(…)`, and what `realtime.topic()` returns
    /// in policies.
    pub(crate) fn name(&self) -> &str {
        &self.inner.wire_name[PREFIX.len()..]
    }

    /// The name in frames: the sub-topic with its prefix.
    pub(crate) fn wire_name(&self) -> &str {
        &self.inner.wire_name
    }

    /// Whether joins and broadcasts are subject to the policies on `realtime.messages`.
    pub(crate) fn is_private(&self) -> bool {
        self.inner.is_private
    }
}
