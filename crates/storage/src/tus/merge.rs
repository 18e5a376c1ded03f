//! Merges small pieces, so that an upload in tiny chunks does not become as many files. Each byte is copied a few times
//! at most, because pieces are merged by size class, as in a log-structured merge tree.

use uuid::Uuid;

use super::error::TusError;
use super::upload_table::{Piece, UploadTable};
use crate::backend::Version;
use crate::error::StorageError;
use crate::object::pending_blob::PendingBlob;

/// How many pieces of one size class are merged into one.
const MERGE_COUNT: usize = 32;
/// Pieces of this size or larger are never merged.
const MERGE_BELOW_BYTES: u64 = 1024 * 1024;

/// Merges the last pieces of an upload for as long as there are enough of one size class.
///
/// # Errors
/// `TakenOver` when another request has become the upload's writer; those of the backend and the database.
pub(super) async fn merge_small_pieces(
    uploads: &UploadTable,
    upload: Version,
    writer: Uuid,
) -> Result<(), TusError> {
    loop {
        let pieces = uploads.pieces(upload).await?;
        let Some(tail) = find_mergeable(&pieces) else {
            return Ok(());
        };
        let storage = uploads.service.storage();
        let blob = PendingBlob::new(storage, Version::fresh());
        let parts: Vec<Version> = tail.iter().map(|piece| piece.blob).collect();
        let size = tail.iter().map(|piece| piece.size).sum();
        storage
            .backend()
            .concat(&parts, blob.version(), storage.disk())
            .await
            .map_err(StorageError::from)?;
        // The merged blob is durable before the rows refer to it, and the old blobs are removed after that.
        let version = blob.version();
        let write = async {
            let is_merged = uploads
                .replace_pieces(upload, writer, &tail[0], version, size)
                .await?;
            Ok::<_, TusError>(is_merged.then_some(()))
        };
        blob.commit(write).await?.ok_or(TusError::TakenOver)?;
        for part in parts {
            storage.discard_piece(part);
        }
    }
}

/// The last pieces, if at least [`MERGE_COUNT`] of them are in the size class of the last one or below. A class spans a
/// factor of 32 in size.
fn find_mergeable(pieces: &[Piece]) -> Option<&[Piece]> {
    // 32 is 2^5, so the binary logarithm divided by five is the size class; merging 32 pieces of a class gives one of
    // the next.
    let class = |piece: &Piece| piece.size.max(1).ilog2() / 5;
    let highest = class(pieces.last()?);
    let count = pieces
        .iter()
        .rev()
        .take_while(|piece| piece.size < MERGE_BELOW_BYTES && class(piece) <= highest)
        .count();
    (count >= MERGE_COUNT).then(|| &pieces[pieces.len() - count..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_087_twenty_thousand_tiny_chunks_become_fewer_than_100_pieces() {
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut copied, chunks, size) = (0, 20_000, 1_000);
        for number in 0..chunks {
            pieces.push(Piece {
                position: number * size,
                blob: Version::fresh(),
                size,
            });
            while let Some(tail) = find_mergeable(&pieces) {
                let merged = Piece {
                    size: tail.iter().map(|piece| piece.size).sum(),
                    ..tail[0].clone()
                };
                let left = pieces.len() - tail.len();
                copied += merged.size;
                pieces.truncate(left);
                pieces.push(merged);
            }
        }

        assert!(pieces.len() < 100, "{} pieces", pieces.len());
        assert!(copied < 4 * chunks * size, "{copied} bytes copied");
    }
}
