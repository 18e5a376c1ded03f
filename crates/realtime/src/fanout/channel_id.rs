//! Ids of joined channels, unique within this process.

/// Low bits of a [`ChannelId`]: the number of the channel on its worker. The bits above hold the worker's index.
const COUNTER_BITS: u32 = 48;

/// Id of a joined channel: the worker's index and a counter, so that a message for a channel finds its thread without
/// a lookup. Ids are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ChannelId(u64);

impl ChannelId {
    pub(crate) fn new(worker: usize, counter: u64) -> Self {
        Self((worker as u64) << COUNTER_BITS | counter)
    }

    /// The id as a number.
    pub(crate) fn as_u64(self) -> u64 {
        self.0
    }

    /// The worker on whose thread the channel runs.
    pub(crate) fn worker(self) -> usize {
        usize::try_from(self.0 >> COUNTER_BITS).expect("made from a usize")
    }
}

impl From<u64> for ChannelId {
    fn from(number: u64) -> Self {
        Self(number)
    }
}
