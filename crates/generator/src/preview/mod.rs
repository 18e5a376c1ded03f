//! The built-in generator: puts a photo of the person and the pictures of the items on one sheet. It does not draw the
//! person in the clothes, so the sheet and the row both call it a preview.

use bytes::Bytes;
use selvedge_lookbook::{MAX_ITEMS, SheetItem, SheetTexts, draw_sheet, item_picture_size, photo_size};

use crate::error::{AttemptError, texts};
use crate::queue::job::{Job, Role, Source};
use crate::state::Generator;
use crate::store::StoreError;

/// Percent when the photo has been read; the items follow, up to [`COMPOSING`].
const PHOTO_READ: i16 = 20;
/// Percent when all pictures have been read.
const COMPOSING: i16 = 80;

/// Written on each sheet, because nobody should take it for a picture of the person in the clothes.
const NOTE: &str = "Preview. Your photo next to the items. It does not show you wearing them.";

/// Makes the sheet of a job, stores it and records it.
///
/// # Errors
/// `Permanent` when none of the photos or items can be used, `Gone` when the job was cancelled meanwhile.
pub(crate) async fn make_preview(generator: &Generator, job: &Job) -> Result<(), AttemptError> {
    let items: Vec<&Source> = job.input.sources_of(Role::Item).take(MAX_ITEMS).collect();
    let photo = read_photo(generator, job).await?;
    report(generator, job, PHOTO_READ).await?;

    let mut pictures: Vec<SheetItem> = Vec::new();
    for (read, item) in items.iter().enumerate() {
        let size = item_picture_size(items.len());
        match generator
            .store
            .render(&item.bucket, &item.name, size, false)
            .await
        {
            Ok(picture) => pictures.push(SheetItem {
                picture,
                label: item.label.clone().unwrap_or_default(),
            }),
            // The outfit is still recognisable without one of its items.
            Err(StoreError::Missing | StoreError::Unreadable) => {}
            Err(error) => return Err(error.into()),
        }
        let share = i16::try_from((read + 1) * 100 / items.len()).unwrap_or(100);
        report(
            generator,
            job,
            PHOTO_READ + (COMPOSING - PHOTO_READ) * share / 100,
        )
        .await?;
    }
    if pictures.is_empty() {
        return Err(AttemptError::Permanent(texts::NO_ITEMS.to_owned()));
    }

    // On this thread, which belongs to the attempt alone and serves no requests.
    let title = job.input.details.get("title").and_then(|title| title.as_str());
    let written = SheetTexts {
        title: title.unwrap_or_default().to_owned(),
        note: NOTE.to_owned(),
    };
    let sheet = draw_sheet(&written, &photo, &pictures).map_err(|error| {
        tracing::warn!(%error, id = %job.id, "a sheet cannot be drawn");
        AttemptError::temporary(texts::INTERNAL)
    })?;
    save_sheet(generator, job, sheet).await
}

/// The first photo of the person that can be rendered; HEIC, for example, cannot.
async fn read_photo(generator: &Generator, job: &Job) -> Result<Vec<u8>, AttemptError> {
    for source in job.input.sources_of(Role::Person) {
        match generator
            .store
            .render(&source.bucket, &source.name, photo_size(), true)
            .await
        {
            Ok(photo) => return Ok(photo),
            Err(StoreError::Missing | StoreError::Unreadable) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(AttemptError::Permanent(texts::NO_PHOTO.to_owned()))
}

async fn save_sheet(generator: &Generator, job: &Job, sheet: Vec<u8>) -> Result<(), AttemptError> {
    let name = job.target.object_name(job.id, "jpg");
    let bucket = &job.target.bucket;
    generator
        .store
        .put(bucket, &name, "image/jpeg", Bytes::from(sheet))
        .await?;
    if generator.queue.finish(job.id, job.attempt, &name, true).await? {
        return Ok(());
    }
    // The owner has cancelled or deleted the job while the picture was stored, so nobody would ever see the file.
    generator.store.delete(bucket, &name).await?;
    Err(AttemptError::Gone)
}

async fn report(generator: &Generator, job: &Job, percent: i16) -> Result<(), AttemptError> {
    match generator.queue.set_progress(job, percent).await? {
        true => Ok(()),
        false => Err(AttemptError::Gone),
    }
}
