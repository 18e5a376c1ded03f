//! Removes unfinished uploads that nobody continues, and versions that rules call old, at regular intervals.

use std::rc::Rc;

use uuid::Uuid;

use crate::backend::Version;
use crate::database::session::{DbSession, RequestFacts};
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::identity::Identity;
use crate::state::StorageWorker;
use crate::tus::expire_resumable_uploads;
use crate::versions::expire_versions;

/// Removes multipart uploads to which no part came for the time `$1`. A part that is recorded meanwhile changes the size of its
/// upload, and then the row is no longer the one that was chosen.
const DELETE_EXPIRED_MULTIPART: &str = "with removed as (delete from storage.s3_multipart_uploads as u \
     where (u.id, u.in_progress_size) in (select c.id, c.in_progress_size from storage.s3_multipart_uploads as c \
     where c.created_at < now() - $1::interval and not exists (select from storage.s3_multipart_uploads_parts as p \
     where p.upload_id = c.id and p.created_at >= now() - $1::interval) limit 20) returning u.id) \
     select p.id as blob from removed left join storage.s3_multipart_uploads_parts as p on p.upload_id = removed.id";

/// Removes expired uploads and versions at intervals, until the worker stops. Several nodes may do so at the same time.
pub(crate) async fn expire_uploads_forever(worker: StorageWorker) {
    let interval = worker.storage().config().resumable_sweep_interval;
    loop {
        tokio::time::sleep(interval).await;
        let service = |operation| {
            let facts = Rc::new(RequestFacts::of_background_work(operation));
            DbSession::new(worker.clone(), facts, Identity::service())
        };
        if let Err(error) = expire_resumable_uploads(service("storage.tus.upload.delete")).await {
            tracing::warn!(%error, "expired resumable uploads could not be removed");
        }
        if let Err(error) = expire_multipart_uploads(&service("storage.s3.upload.abort_multipart")).await {
            tracing::warn!(%error, "expired multipart uploads could not be removed");
        }
        if let Err(error) = expire_versions(&service("storage.object.lifecycle")).await {
            tracing::warn!(%error, "old versions of objects could not be removed");
        }
    }
}

async fn expire_multipart_uploads(service: &DbSession) -> Result<(), StorageError> {
    let lifetime = service.storage().config().multipart_upload_lifetime;
    loop {
        let statement =
            Statement::new(DELETE_EXPIRED_MULTIPART).bind(format!("{} milliseconds", lifetime.as_millis()));
        let rows = service.write(statement).await?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in &rows {
            // Null in the row of an upload without parts.
            let blob: Option<Uuid> = row.try_get("blob").map_err(StorageError::internal)?;
            if let Some(blob) = blob {
                service.storage().discard_piece(Version::from_uuid(blob));
            }
        }
        tracing::info!("removed multipart uploads that nobody continued");
    }
}
