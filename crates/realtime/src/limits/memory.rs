//! The memory that clients make this service hold, out of the process' budget.

use bytes::Bytes;
use selvedge_limits::ClientId;
use selvedge_memory::{ARRIVING_COUNTED_FROM, COUNTED_FROM, MemoryBudget, Reservation};

/// How often what a client sends is in memory: as it came, and encoded for the sockets of each protocol version.
const COPIES: usize = 3;
/// How often a presence entry is in memory: itself, in a diff, and in the diff's frames of both protocol versions.
const PRESENCE_COPIES: usize = 4;
/// What an entry takes besides its texts, in bytes.
const ENTRY_BYTES: usize = 512;

/// Memory that a client has reserved; given back when this is dropped.
#[derive(Debug)]
pub(crate) struct HeldMemory {
    parts: Vec<Reservation>,
}

impl HeldMemory {
    /// Reserves bytes for a client. `None` when its share or the budget is used up.
    pub(crate) fn reserve(memory: &MemoryBudget, client: ClientId, bytes: usize) -> Option<Self> {
        let part = memory.reserve_for(client, bytes)?;
        Some(Self { parts: vec![part] })
    }

    /// Reserves memory for a presence entry whose key and object have so many bytes. `None` as for [`Self::reserve`].
    pub(crate) fn reserve_presence(memory: &MemoryBudget, client: ClientId, bytes: usize) -> Option<Self> {
        Self::reserve(memory, client, Self::count_presence_bytes(bytes))
    }

    /// The memory of a presence entry whose key and object have so many bytes.
    pub(crate) fn count_presence_bytes(bytes: usize) -> usize {
        bytes * PRESENCE_COPIES + ENTRY_BYTES
    }

    /// Ties the reservation to bytes: it is given back when they and all slices of them have been dropped.
    pub(crate) fn hold(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(HeldBytes { bytes, _memory: self })
    }
}

/// The fields are dropped in this order, so memory is free before others may reserve it.
struct HeldBytes {
    bytes: Bytes,
    _memory: HeldMemory,
}

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Memory that is reserved while it grows.
#[derive(Debug, Default)]
pub(crate) struct GrowingMemory {
    reserved: usize,
    held: Option<HeldMemory>,
}

impl GrowingMemory {
    /// Reserves up to this many bytes in all; none as long as they are [`COUNTED_FROM`] at most. False when there is no memory for them.
    pub(crate) fn cover(&mut self, bytes: usize, memory: &MemoryBudget, client: ClientId) -> bool {
        bytes <= COUNTED_FROM || self.reserve_until(bytes, 2 * COUNTED_FROM, memory, client)
    }

    /// Reserves until there are so many bytes in all, `first` of them at first. False when there is no memory for them.
    fn reserve_until(&mut self, bytes: usize, first: usize, memory: &MemoryBudget, client: ClientId) -> bool {
        while self.reserved < bytes {
            // Doubled, so that a few steps are enough.
            let more = self.reserved.max(first);
            let Some(taken) = memory.reserve_for(client, more) else {
                return false;
            };
            self.reserved += more;
            match &mut self.held {
                Some(held) => held.parts.push(taken),
                None => self.held = Some(HeldMemory { parts: vec![taken] }),
            }
        }
        true
    }
}

/// The memory of a message that arrives on a socket.
#[derive(Debug, Default)]
pub(crate) struct IncomingMessage {
    read: usize,
    memory: GrowingMemory,
}

impl IncomingMessage {
    /// Notes bytes that were read. False when there is no memory for a message of this length.
    pub(crate) fn grow(&mut self, bytes: usize, memory: &MemoryBudget, client: ClientId) -> bool {
        self.read += bytes;
        let first = 2 * ARRIVING_COUNTED_FROM * COPIES;
        self.read <= ARRIVING_COUNTED_FROM
            || self
                .memory
                .reserve_until(self.read * COPIES, first, memory, client)
    }

    /// The message is complete: ties what was reserved to its bytes, and begins with the next one.
    pub(crate) fn finish(&mut self, bytes: Bytes) -> Bytes {
        match std::mem::take(self).memory.held {
            Some(held) => held.hold(bytes),
            None => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn realtime_075_a_client_gets_an_eighth_of_the_budget_until_its_messages_are_gone() {
        let memory = MemoryBudget::new(12 * ARRIVING_COUNTED_FROM);
        let (one, other) = (ClientId::of_connection(None), ClientId::of_connection(None));
        let mut message = IncomingMessage::default();

        assert!(message.grow(ARRIVING_COUNTED_FROM, &memory, one));
        assert_eq!(memory.used(), 0, "small messages are not counted");
        assert!(message.grow(1, &memory, one));
        assert!(
            !message.grow(2 * ARRIVING_COUNTED_FROM, &memory, one),
            "beyond the share"
        );
        let bytes = message.finish(Bytes::from_static(b"[]"));
        let slice = bytes.slice(1..);
        drop(bytes);
        assert_eq!(memory.used(), 6 * ARRIVING_COUNTED_FROM);
        assert!(HeldMemory::reserve(&memory, one, ARRIVING_COUNTED_FROM).is_none());
        assert!(HeldMemory::reserve(&memory, other, ARRIVING_COUNTED_FROM).is_some());
        drop(slice);

        assert_eq!(memory.used(), 0);
    }
}
