//! The owner of a presence entry: a channel and the node that it is connected to.

/// A node, as this one numbers the nodes that it has heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct NodeNumber(u32);

impl NodeNumber {
    /// This node itself.
    pub(crate) const OWN: Self = Self(0);

    /// Another node. `number` starts at 1.
    pub(crate) fn other(number: u32) -> Self {
        debug_assert!(number > 0, "0 is this node");
        Self(number)
    }
}

/// The channel that tracks an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    /// The node that the channel's socket is connected to.
    pub(crate) node: NodeNumber,
    /// Number of the channel, unique on its node.
    pub(crate) channel: u64,
}

impl Owner {
    /// A channel of this node.
    pub(crate) fn own(channel: u64) -> Self {
        Self {
            node: NodeNumber::OWN,
            channel,
        }
    }
}
