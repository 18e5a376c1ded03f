//! Bytes come in: into a piece, which is made durable and recorded when it is large or old enough, when the request ends,
//! and when its connection breaks. What was recorded is never asked for again.

use std::time::Duration;

use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::StreamExt;
use md5::digest::common::hazmat::SerializableState;
use md5::{Digest, Md5};
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use super::refusal::Refusal;
use super::upload::{Finishing, NewPiece, Piece, Upload, Uploads};
use super::writers::Hold;
use super::{Permit, Tus, finish, headers};
use crate::backend::{BlobWriter, Version};
use crate::error::StorageError;
use crate::object::commit::PendingBlob;

/// A piece ends at this size: that much a crash may cost, and so often the disk is waited for.
const PIECE_BYTES: u64 = 16 * 1024 * 1024;
/// A piece that has bytes ends after this time: slow uploads are safe as well, and a lost upload is noticed.
const PIECE_AGE: Duration = Duration::from_secs(5);
/// A connection on which nothing comes for this long is given up; the client may resume.
const PATIENCE: Duration = Duration::from_secs(60);
/// So many pieces of one size class are merged into one, so that tiny chunks do not become as many files.
const MERGE_COUNT: usize = 32;
/// Pieces of this size are never merged.
const MERGE_BELOW: u64 = 1024 * 1024;

/// What a request has achieved.
pub(super) struct Received {
    /// Bytes that are safe now.
    pub(super) offset: u64,
    /// When the upload ends; none when it is complete.
    pub(super) expires_at: Option<DateTime<Utc>>,
}

impl Tus {
    /// Takes a body in, and makes the object when it was the last one. Goes on when the handler is dropped: then the
    /// client has gone, and what it has sent is put away.
    pub(super) async fn receive(
        &self,
        hold: Hold,
        upload: Upload,
        writer: Uuid,
        permit: &Permit,
        limit: u64,
        payload: Option<web::Payload>,
    ) -> Result<Received, Refusal> {
        let most = upload.length.unwrap_or(limit).saturating_sub(upload.received);
        let declared = headers::number_of(self.call.request.headers(), CONTENT_LENGTH.as_str());
        if payload.is_some() && declared.is_some_and(|declared| declared > most) {
            return Err(Refusal::SizeExceeded);
        }
        let client_gone = hold.stop().clone().drop_guard();
        let intake = Intake {
            uploads: self.uploads(),
            hold,
            writer,
            finishing: Finishing {
                owner: permit.owner.id.clone(),
                upsert: permit.upsert,
            },
            most,
            digest: digest_from(&upload.digest),
            upload,
            open: None,
            expires_at: None,
        };
        let received = actix_web::rt::spawn(intake.run(payload)).await;
        drop(client_gone);
        received.map_err(StorageError::internal)?
    }
}

/// Why reading stopped.
enum End {
    /// The body is whole.
    Body,
    /// The connection broke.
    Broken,
    /// Another request asks for the upload, or the client has gone.
    Stopped,
    /// Nothing came for too long.
    Idle,
}

/// A piece that is being written.
struct Open {
    blob: PendingBlob,
    writer: Box<dyn BlobWriter>,
    size: u64,
    since: Instant,
}

struct Intake {
    uploads: Uploads,
    hold: Hold,
    writer: Uuid,
    finishing: Finishing,
    upload: Upload,
    /// Bytes that may still come.
    most: u64,
    /// Over all bytes, those of the open piece included.
    digest: Md5,
    open: Option<Open>,
    expires_at: Option<DateTime<Utc>>,
}

impl Intake {
    async fn run(mut self, payload: Option<web::Payload>) -> Result<Received, Refusal> {
        let end = match payload {
            Some(payload) => self.read(payload).await?,
            None => End::Body,
        };
        self.close_piece().await?;
        match end {
            End::Body => {}
            End::Broken => return Err(StorageError::Aborted.into()),
            End::Stopped => return Err(Refusal::TakenOver),
            End::Idle => return Err(Refusal::Idle),
        }
        self.merge_small_pieces().await?;
        if self.upload.is_full() {
            if !self.upload.completed {
                self.uploads
                    .keep(self.upload.version, self.writer, Some(&self.finishing))
                    .await?;
                self.upload.finishing = Some(self.finishing.clone());
                self.upload = finish::finish(&self.uploads, self.upload).await?;
            }
            return Ok(Received {
                offset: self.upload.received,
                expires_at: None,
            });
        }
        let expires_at = match self.expires_at {
            Some(at) => at,
            None => self.uploads.keep(self.upload.version, self.writer, None).await?,
        };
        Ok(Received {
            offset: self.upload.received,
            expires_at: Some(expires_at),
        })
    }

    async fn read(&mut self, mut payload: web::Payload) -> Result<End, Refusal> {
        let stop = self.hold.stop().clone();
        let mut last_byte = Instant::now();
        loop {
            let piece_ends = self
                .open
                .as_ref()
                .map_or(last_byte + PATIENCE, |open| open.since + PIECE_AGE);
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(End::Stopped),
                chunk = payload.next() => match chunk {
                    None => return Ok(End::Body),
                    Some(Err(_)) => return Ok(End::Broken),
                    Some(Ok(chunk)) => {
                        last_byte = Instant::now();
                        self.write(chunk).await?;
                    }
                },
                () = sleep_until(piece_ends) => {}
            }
            let now = Instant::now();
            let full = self
                .open
                .as_ref()
                .is_some_and(|open| open.size >= PIECE_BYTES || open.since + PIECE_AGE <= now);
            if full {
                self.close_piece().await?;
            }
            if last_byte + PATIENCE <= now {
                return Ok(End::Idle);
            }
        }
    }

    async fn write(&mut self, chunk: Bytes) -> Result<(), Refusal> {
        let size = chunk.len() as u64;
        if size == 0 {
            return Ok(());
        }
        if size > self.most {
            // The open piece is dropped: nothing of a body that is too long counts.
            return Err(Refusal::SizeExceeded);
        }
        self.most -= size;
        self.digest.update(&chunk);
        if self.open.is_none() {
            let storage = self.uploads.service.worker().storage();
            let version = Version::fresh();
            let writer = storage
                .backend()
                .create(version)
                .await
                .map_err(StorageError::from)?;
            self.open = Some(Open {
                blob: PendingBlob::new(storage, version),
                writer,
                size: 0,
                since: Instant::now(),
            });
        }
        if let Some(open) = &mut self.open {
            open.writer.write(chunk).await.map_err(StorageError::from)?;
            open.size += size;
        }
        Ok(())
    }

    /// Makes the open piece durable, then counts it.
    async fn close_piece(&mut self) -> Result<(), Refusal> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        open.writer.finish().await.map_err(StorageError::from)?;
        let position = self.upload.received;
        let last = self.upload.length == Some(position + open.size);
        let piece = NewPiece {
            upload: self.upload.version,
            writer: self.writer,
            blob: open.blob.version(),
            position,
            size: open.size,
            digest: &hex::encode(self.digest.serialize()),
            finishing: last.then_some(&self.finishing),
        };
        self.expires_at = Some(self.uploads.record(&piece).await?);
        self.upload.digest = piece.digest.to_owned();
        open.blob.keep();
        self.upload.received = position + open.size;
        Ok(())
    }

    /// Keeps the number of pieces small when chunks are tiny: each byte is copied at most a few times.
    async fn merge_small_pieces(&mut self) -> Result<(), Refusal> {
        if self.upload.is_full() {
            return Ok(());
        }
        loop {
            let pieces = self.uploads.pieces(self.upload.version).await?;
            let Some(tail) = mergeable(&pieces) else {
                return Ok(());
            };
            let storage = self.uploads.service.worker().storage();
            let blob = PendingBlob::new(storage, Version::fresh());
            let parts: Vec<Version> = tail.iter().map(|piece| piece.blob).collect();
            let size = tail.iter().map(|piece| piece.size).sum();
            storage
                .backend()
                .concat(&parts, blob.version())
                .await
                .map_err(StorageError::from)?;
            let (version, writer) = (self.upload.version, self.writer);
            if !self
                .uploads
                .merge(version, writer, &tail[0], blob.version(), size)
                .await?
            {
                return Err(Refusal::TakenOver);
            }
            blob.keep();
            for part in parts {
                storage.discard(part);
            }
        }
    }
}

/// The last pieces, if there are enough of the last one's size class or below.
fn mergeable(pieces: &[Piece]) -> Option<&[Piece]> {
    let class = |piece: &Piece| piece.size.max(1).ilog2() / 5;
    let highest = class(pieces.last()?);
    let count = pieces
        .iter()
        .rev()
        .take_while(|piece| piece.size < MERGE_BELOW && class(piece) <= highest)
        .count();
    (count >= MERGE_COUNT).then(|| &pieces[pieces.len() - count..])
}

pub(super) fn digest_from(state: &str) -> Md5 {
    let bytes = hex::decode(state).unwrap_or_default();
    // Only the empty state of a new upload is none.
    bytes
        .as_slice()
        .try_into()
        .ok()
        .and_then(|state| Md5::deserialize(state).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_goes_on_where_it_was() {
        let mut digest = digest_from("");
        digest.update(b"hello ");

        let mut resumed = digest_from(&hex::encode(digest.serialize()));
        resumed.update(b"world");

        assert_eq!(
            hex::encode(resumed.finalize()),
            "5eb63bbbe01eeed093cb22bb8f5acdc3"
        );
    }

    #[test]
    fn tiny_chunks_become_few_pieces() {
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut copied, chunks, size) = (0, 20_000, 1_000);
        for number in 0..chunks {
            pieces.push(Piece {
                position: number * size,
                blob: Version::fresh(),
                size,
            });
            while let Some(tail) = mergeable(&pieces) {
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
