//! Watches the disk of a database on this machine for what the server itself writes there. The process that keeps PostgreSQL running watches it
//! for PostgreSQL.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use selvedge_postgres::{Database, DiskLevel, DiskRoom, DiskState};
use selvedge_storage::Storage;

use crate::http::metrics::{DISK_FREE, DISK_SIZE};

/// The time between two looks at the disk, and the shorter one while its room is short.
const INTERVAL: Duration = Duration::from_secs(1);
const SHORT_INTERVAL: Duration = Duration::from_millis(200);

/// Looks at the disk of a folder until it is dropped, and sets the level that writes and uploads ask for: they are refused while it is full.
pub(crate) async fn watch_disk(folder: &Path, database: &Database, storage: Option<Arc<Storage>>) {
    let disk = database.disk();
    loop {
        match DiskRoom::of(folder) {
            Ok(room) => set_level(room, disk),
            Err(error) => tracing::warn!(%error, "the room on the disk is unknown"),
        }
        if disk.level() >= DiskLevel::VeryLow
            && let Some(storage) = storage.clone()
        {
            // A file that could not be removed is tried again at the next look.
            let _ = actix_web::rt::task::spawn_blocking(move || storage.clear_rendered()).await;
        }
        let is_calm = disk.level() == DiskLevel::Enough;
        actix_web::rt::time::sleep(if is_calm { INTERVAL } else { SHORT_INTERVAL }).await;
    }
}

fn set_level(room: DiskRoom, disk: &DiskState) {
    let count = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    DISK_FREE.set(count(room.free));
    DISK_SIZE.set(count(room.total));
    let (before, level) = (disk.level(), room.level_after(disk.level()));
    if before == level {
        return;
    }
    disk.set(level);
    let (free_bytes, percent) = (room.free, room.percent());
    match level {
        DiskLevel::Full => tracing::error!(
            free_bytes,
            percent,
            "the disk is full: uploads and writes are refused until 6 % are free"
        ),
        DiskLevel::VeryLow if before < level => tracing::warn!(
            free_bytes,
            percent,
            "the disk is nearly full: rendered images are not kept"
        ),
        DiskLevel::Low if before < level => {
            tracing::warn!(free_bytes, percent, "the disk gets full: free some room");
        }
        _ => tracing::info!(free_bytes, percent, "the disk has more room again"),
    }
}
