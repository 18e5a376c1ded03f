//! Reads the body of a request into pieces. A piece is made durable and recorded when it is large or old enough, when
//! the body ends, and when the connection breaks. The client never has to send recorded bytes again.

use std::time::Duration;

use actix_web::http::header::CONTENT_LENGTH;
use actix_web::{HttpResponseBuilder, web};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::StreamExt;
use md5::{Digest, Md5};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::digest::{restore_md5, serialize_md5};
use super::error::TusError;
use super::finish::finish_upload;
use super::headers;
use super::merge::merge_small_pieces;
use super::protocol::expires_header;
use super::request::{TusRequest, WriteGrant};
use super::upload_locks::UploadLock;
use super::upload_table::{CommitAs, NewPiece, ResumableUpload, UploadTable};
use crate::backend::{BlobWriter, Version};
use crate::database::session::DbSession;
use crate::error::StorageError;
use crate::object::pending_blob::PendingBlob;

/// A piece ends at this size: a crash costs at most this many bytes, and the disk is synced this often.
const PIECE_MAX_BYTES: u64 = 16 * 1024 * 1024;
/// A piece ends after this time, so that a slow upload makes progress and notices that another request took it over.
const PIECE_MAX_AGE: Duration = Duration::from_secs(5);
/// A connection on which nothing arrives for this long is closed; the client may resume.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// The state of the upload after the body of a request was received.
pub(super) struct Received {
    /// Bytes of the upload that are durable and recorded now.
    pub(super) offset: u64,
    /// When the upload expires; `None` when it is complete.
    pub(super) expires_at: Option<DateTime<Utc>>,
}

impl Received {
    /// Adds `Tus-Complete` to the response of a finished upload, `Upload-Expires` to that of an unfinished one.
    pub(super) fn add_headers(&self, response: &mut HttpResponseBuilder) {
        match self.expires_at {
            None => response.insert_header(("tus-complete", "1")),
            Some(at) => response.insert_header(expires_header(at)),
        };
    }
}

/// An upload that this request may write to: its row, and the lock and writer id that make this request its only
/// writer.
pub(super) struct ClaimedUpload {
    pub(super) upload: ResumableUpload,
    pub(super) lock: UploadLock,
    pub(super) writer: Uuid,
    pub(super) grant: WriteGrant,
    /// Largest size of the whole upload in bytes, where none is declared.
    pub(super) limit: u64,
}

impl TusRequest {
    /// Reads the body into pieces, and creates the object when all bytes have arrived. Runs as a separate task: when the
    /// client disconnects, the handler is dropped and the task records what has arrived so far.
    ///
    /// # Errors `SizeExceeded`, `Idle`, `TakenOver`, `Aborted`, and those of [`finish_upload`].
    pub(super) async fn receive(
        &self,
        claimed: ClaimedUpload,
        payload: Option<web::Payload>,
    ) -> Result<Received, TusError> {
        let upload = &claimed.upload;
        let remaining = upload
            .length
            .unwrap_or(claimed.limit)
            .saturating_sub(upload.received);
        let declared = headers::find_number(self.context.request.headers(), CONTENT_LENGTH.as_str());
        if payload.is_some() && declared.is_some_and(|declared| declared > remaining) {
            return Err(TusError::SizeExceeded);
        }
        // actix drops this handler when the client disconnects. The guard then fires the token, and the task records
        // what has arrived instead of waiting for the idle timeout.
        let client_gone = CancellationToken::new();
        let fire_when_dropped = client_gone.clone().drop_guard();
        let receiver = BodyReceiver {
            uploads: self.uploads(),
            caller: self.caller.clone(),
            lock: claimed.lock,
            client_gone,
            writer: claimed.writer,
            commit_as: CommitAs {
                owner: claimed.grant.owner.id,
                upsert: claimed.grant.upsert,
            },
            remaining,
            digest: restore_md5(&claimed.upload.digest),
            upload: claimed.upload,
            open_piece: None,
            expires_at: None,
        };
        let received = actix_web::rt::spawn(receiver.run(payload)).await;
        drop(fire_when_dropped);
        received.map_err(StorageError::internal)?
    }
}

/// Why reading the body stopped.
enum BodyEnd {
    /// The body was read to its end.
    Complete,
    /// The connection broke before the end.
    Broken,
    /// Another request asked for the lock of the upload.
    Stopped,
    /// No data arrived for [`IDLE_TIMEOUT`].
    Idle,
}

/// A piece that is being written.
struct OpenPiece {
    blob: PendingBlob,
    writer: Box<dyn BlobWriter>,
    size: u64,
    since: Instant,
}

struct BodyReceiver {
    uploads: UploadTable,
    /// Whom the policies are asked about; `None` on signed routes.
    caller: Option<DbSession>,
    lock: UploadLock,
    /// Fires when the client has disconnected.
    client_gone: CancellationToken,
    writer: Uuid,
    commit_as: CommitAs,
    upload: ResumableUpload,
    /// Bytes that the body may still bring.
    remaining: u64,
    /// Over all bytes of the upload, including those of the open piece.
    digest: Md5,
    open_piece: Option<OpenPiece>,
    expires_at: Option<DateTime<Utc>>,
}

impl BodyReceiver {
    async fn run(mut self, payload: Option<web::Payload>) -> Result<Received, TusError> {
        let end = match payload {
            Some(payload) => self.read_body(payload).await?,
            None => BodyEnd::Complete,
        };
        // Also after a broken connection: what arrived is recorded, so that the client need not send it again.
        self.close_piece().await?;
        match end {
            BodyEnd::Complete => {}
            BodyEnd::Broken => return Err(StorageError::Aborted.into()),
            BodyEnd::Stopped => return Err(TusError::TakenOver),
            BodyEnd::Idle => return Err(TusError::Idle),
        }
        if self.upload.is_full() {
            return self.finish().await;
        }
        merge_small_pieces(&self.uploads, self.upload.version, self.writer).await?;
        // Recording a piece extends the lifetime. A request without bytes recorded none, so it extends the lifetime
        // here.
        let expires_at = match self.expires_at {
            Some(at) => at,
            None => {
                self.uploads
                    .extend(self.upload.version, self.writer, None)
                    .await?
            }
        };
        Ok(Received {
            offset: self.upload.received,
            expires_at: Some(expires_at),
        })
    }

    /// Makes the object of a full upload.
    async fn finish(mut self) -> Result<Received, TusError> {
        // Owner and upsert are stored before the object is made, so that after a crash another request can make it.
        if !self.upload.completed {
            self.uploads
                .extend(self.upload.version, self.writer, Some(&self.commit_as))
                .await?;
            self.upload.commit_as = Some(self.commit_as.clone());
            self.upload = finish_upload(&self.uploads, self.caller.as_ref(), self.upload).await?;
        }
        Ok(Received {
            offset: self.upload.received,
            expires_at: None,
        })
    }

    async fn read_body(&mut self, mut payload: web::Payload) -> Result<BodyEnd, TusError> {
        let stop = self.lock.stop().clone();
        let mut last_byte = Instant::now();
        loop {
            let piece_ends = self
                .open_piece
                .as_ref()
                .map_or(last_byte + IDLE_TIMEOUT, |piece| piece.since + PIECE_MAX_AGE);
            tokio::select! {
                // Biased, so that a stop request takes precedence over a client that sends without a pause.
                biased;
                () = stop.cancelled() => return Ok(BodyEnd::Stopped),
                chunk = payload.next() => match chunk {
                    None => return Ok(BodyEnd::Complete),
                    Some(Err(_)) => return Ok(BodyEnd::Broken),
                    Some(Ok(chunk)) => {
                        last_byte = Instant::now();
                        self.write_chunk(chunk).await?;
                    }
                },
                // Behind the payload, so that chunks which came before the disconnect are recorded as well.
                () = self.client_gone.cancelled() => return Ok(BodyEnd::Broken),
                () = sleep_until(piece_ends) => {}
            }
            let now = Instant::now();
            let is_piece_done = self
                .open_piece
                .as_ref()
                .is_some_and(|piece| piece.size >= PIECE_MAX_BYTES || piece.since + PIECE_MAX_AGE <= now);
            if is_piece_done {
                self.close_piece().await?;
            }
            if last_byte + IDLE_TIMEOUT <= now {
                return Ok(BodyEnd::Idle);
            }
        }
    }

    async fn write_chunk(&mut self, chunk: Bytes) -> Result<(), TusError> {
        let size = chunk.len() as u64;
        if size == 0 {
            return Ok(());
        }
        if size > self.remaining {
            // Returning drops the open piece: unrecorded bytes of a body that is too long are discarded.
            return Err(TusError::SizeExceeded);
        }
        self.remaining -= size;
        self.digest.update(&chunk);
        if self.open_piece.is_none() {
            self.open_piece = Some(self.create_piece().await?);
        }
        if let Some(piece) = &mut self.open_piece {
            piece.writer.write(chunk).await.map_err(StorageError::from)?;
            piece.size += size;
        }
        Ok(())
    }

    async fn create_piece(&self) -> Result<OpenPiece, StorageError> {
        let storage = self.uploads.service.storage();
        let version = Version::fresh();
        let writer = storage.create_blob(version).await?;
        Ok(OpenPiece {
            blob: PendingBlob::new(storage, version),
            writer,
            size: 0,
            since: Instant::now(),
        })
    }

    /// Makes the open piece durable, then records it in the row. In this order a recorded byte is always on disk.
    async fn close_piece(&mut self) -> Result<(), TusError> {
        let Some(piece) = self.open_piece.take() else {
            return Ok(());
        };
        piece.writer.finish().await.map_err(StorageError::from)?;
        let position = self.upload.received;
        // Stored with the last byte in one statement, so that a complete upload always contains how to commit it.
        let is_last = self.upload.length == Some(position + piece.size);
        let new = NewPiece {
            upload: self.upload.version,
            writer: self.writer,
            blob: piece.blob.version(),
            position,
            size: piece.size,
            digest: &serialize_md5(&self.digest),
            commit_as: is_last.then_some(&self.commit_as),
        };
        let write = async { self.uploads.record_piece(&new).await.map(Some) };
        self.expires_at = piece.blob.commit(write).await?;
        self.upload.digest = new.digest.to_owned();
        self.upload.received = position + piece.size;
        Ok(())
    }
}
