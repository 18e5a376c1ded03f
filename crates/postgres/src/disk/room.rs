//! How much room the disk of a data folder has, and what that means for whoever writes there.

use std::io;
use std::path::Path;

use nix::sys::statvfs::statvfs;

const MIB: u64 = 1024 * 1024;

/// With less room than these a disk has the level of the name. On a small disk the bytes decide: so many can be written within the second that it
/// takes to see it.
const LOW: Threshold = Threshold {
    percent: 10,
    bytes: 256 * MIB,
};
const VERY_LOW: Threshold = Threshold {
    percent: 5,
    bytes: 128 * MIB,
};
const FULL: Threshold = Threshold {
    percent: 3,
    bytes: 64 * MIB,
};
/// A disk that was full is written again only with this much room, as otherwise the next rows would fill it again.
const WRITABLE: Threshold = Threshold {
    percent: 6,
    bytes: 128 * MIB,
};

#[derive(Debug, Clone, Copy)]
struct Threshold {
    percent: u64,
    bytes: u64,
}

/// How short the room on a disk is, from enough to none. What happens at a level happens at the later ones, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiskLevel {
    /// Nothing happens.
    #[default]
    Enough,
    /// People are warned.
    Low,
    /// Old logs and caches are removed, and replication slots that hold much are given up.
    VeryLow,
    /// The database is read-only, and uploads are refused. Sign-ins still write their sessions.
    Full,
}

impl DiskLevel {
    /// The warning that console and `health` show; `None` while there is enough room.
    #[must_use]
    pub fn warning(self) -> Option<&'static str> {
        match self {
            Self::Enough => None,
            Self::Low => Some("less than 10 % of the database's disk are free"),
            Self::VeryLow => Some("less than 5 % of the database's disk are free"),
            Self::Full => Some("the database's disk is full: writes and uploads are refused"),
        }
    }
}

/// The room on a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskRoom {
    /// Bytes that may still be written.
    pub free: u64,
    /// All bytes of the file system.
    pub total: u64,
}

impl DiskRoom {
    /// Asks for the file system of a folder.
    ///
    /// # Errors
    /// When the folder cannot be reached.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let found = statvfs(folder)?;
        let unit = widen(found.fragment_size());
        Ok(Self {
            free: widen(found.blocks_available()).saturating_mul(unit),
            total: widen(found.blocks()).saturating_mul(unit),
        })
    }

    /// The free part in percent, rounded down.
    #[must_use]
    pub fn percent(&self) -> u64 {
        self.free.saturating_mul(100) / self.total.max(1)
    }

    /// What it means, after what it meant before.
    #[must_use]
    pub fn level_after(&self, before: DiskLevel) -> DiskLevel {
        let stays_full = before == DiskLevel::Full && self.is_below(WRITABLE);
        if stays_full || self.is_below(FULL) {
            DiskLevel::Full
        } else if self.is_below(VERY_LOW) {
            DiskLevel::VeryLow
        } else if self.is_below(LOW) {
            DiskLevel::Low
        } else {
            DiskLevel::Enough
        }
    }

    fn is_below(&self, threshold: Threshold) -> bool {
        // In 128 bits, as the product of a large disk has more than 64.
        let of_total = u128::from(self.total) * u128::from(threshold.percent) / 100;
        u128::from(self.free) < of_total.max(u128::from(threshold.bytes))
    }
}

/// The system's type for numbers of blocks is narrower on some platforms.
fn widen(number: impl Into<u64>) -> u64 {
    number.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1024 * MIB;

    #[test]
    fn prod_009_a_full_disk_is_written_again_from_six_percent_on() {
        let mut level = DiskLevel::default();
        let mut see = |free_mib: u64| {
            let room = DiskRoom {
                free: free_mib * MIB,
                total: 100 * GIB,
            };
            level = room.level_after(level);
            level
        };

        assert_eq!(see(11 * 1024), DiskLevel::Enough);
        assert_eq!(see(10 * 1024 - 1), DiskLevel::Low);
        assert_eq!(see(5 * 1024 - 1), DiskLevel::VeryLow);
        assert_eq!(see(3 * 1024), DiskLevel::VeryLow);
        assert_eq!(see(3 * 1024 - 1), DiskLevel::Full);
        assert_eq!(see(6 * 1024 - 1), DiskLevel::Full);
        assert_eq!(see(6 * 1024), DiskLevel::Low);
        assert_eq!(see(4 * 1024), DiskLevel::VeryLow);
        assert_eq!(see(100 * 1024), DiskLevel::Enough);
    }

    #[test]
    fn prod_009_on_a_small_disk_bytes_count_and_a_very_large_one_does_not_overflow() {
        let level = |free_mib: u64, total_mib: u64| {
            let room = DiskRoom {
                free: free_mib * MIB,
                total: total_mib * MIB,
            };
            room.level_after(DiskLevel::Enough)
        };

        assert_eq!(level(300, 1000), DiskLevel::Enough);
        assert_eq!(level(255, 1000), DiskLevel::Low);
        assert_eq!(level(127, 1000), DiskLevel::VeryLow);
        assert_eq!(level(63, 1000), DiskLevel::Full);
        let largest = DiskRoom {
            free: u64::MAX,
            total: u64::MAX,
        };
        assert_eq!(largest.level_after(DiskLevel::Full), DiskLevel::Enough);
    }

    #[test]
    fn prod_009_the_room_of_a_folder_is_that_of_its_file_system() {
        let folder = tempfile::tempdir().expect("a folder");

        let room = DiskRoom::of(folder.path()).expect("it is there");

        assert!(room.total > 0 && room.free <= room.total && room.percent() <= 100);
        assert!(DiskRoom::of(&folder.path().join("none")).is_err());
    }
}
