//! What a server knows of the disk of its database, for all that write there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::DiskLevel;

/// The levels, each at the index that stands for it.
const LEVELS: [DiskLevel; 4] = [
    DiskLevel::Enough,
    DiskLevel::Low,
    DiskLevel::VeryLow,
    DiskLevel::Full,
];

/// The room on the disk of a database, as it was seen last. Clones are the same one. Where nobody looks, as the database is on another
/// machine, there is always enough.
#[derive(Debug, Clone, Default)]
pub struct DiskState(Arc<AtomicU8>);

impl DiskState {
    /// Sets what was seen.
    pub fn set(&self, level: DiskLevel) {
        let index = LEVELS.iter().position(|known| *known == level);
        let index = index.and_then(|index| u8::try_from(index).ok()).unwrap_or(0);
        // Relaxed, because it guards no other memory.
        self.0.store(index, Ordering::Relaxed);
    }

    /// What was seen last.
    #[must_use]
    pub fn level(&self) -> DiskLevel {
        let index = usize::from(self.0.load(Ordering::Relaxed));
        LEVELS.get(index).copied().unwrap_or_default()
    }

    /// Whether nothing but sessions is written.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.level() == DiskLevel::Full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_009_all_that_write_see_the_same_level() {
        let state = DiskState::default();
        let other = state.clone();

        assert_eq!(other.level(), DiskLevel::Enough);
        for level in LEVELS {
            state.set(level);
            assert_eq!(other.level(), level);
        }
        assert!(other.is_full());
    }
}
