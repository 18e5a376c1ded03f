//! The built-in generator: puts a photo of the person and the pictures of the items on one card. It does not draw the
//! person in the clothes, so the card and the row both call it a preview.

mod card;

use bytes::Bytes;

use crate::error::{AttemptError, texts};
use crate::queue::job::{Job, Role, Source};
use crate::state::Generator;
use crate::store::StoreError;
use card::{Layout, MAX_ITEMS, compose_card};

/// Percent when the photo has been read; the items follow, up to [`COMPOSING`].
const PHOTO_READ: i16 = 20;
/// Percent when all pictures have been read.
const COMPOSING: i16 = 80;

/// Makes the card of a job, stores it and records it.
///
/// # Errors
/// `Permanent` when none of the photos or items can be used, `Gone` when the job was cancelled meanwhile.
pub(crate) async fn make_preview(generator: &Generator, job: &Job) -> Result<(), AttemptError> {
    let items: Vec<&Source> = job.input.sources_of(Role::Item).take(MAX_ITEMS).collect();
    let layout = Layout::for_items(items.len());
    let photo = read_photo(generator, job, &layout).await?;
    report(generator, job, PHOTO_READ).await?;

    let mut pictures = Vec::new();
    for (read, item) in items.iter().enumerate() {
        let size = layout.item_picture_size(read);
        match generator
            .store
            .render(&item.bucket, &item.name, size, false)
            .await
        {
            Ok(picture) => pictures.push(picture),
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
    let card = compose_card(&photo, &pictures).map_err(|error| {
        tracing::warn!(%error, id = %job.id, "a card cannot be composed");
        AttemptError::temporary(texts::INTERNAL)
    })?;
    save_card(generator, job, card).await
}

/// The first photo of the person that can be rendered; HEIC, for example, cannot.
async fn read_photo(generator: &Generator, job: &Job, layout: &Layout) -> Result<Vec<u8>, AttemptError> {
    for source in job.input.sources_of(Role::Person) {
        let size = (layout.photo.width, layout.photo.height);
        match generator
            .store
            .render(&source.bucket, &source.name, size, true)
            .await
        {
            Ok(photo) => return Ok(photo),
            Err(StoreError::Missing | StoreError::Unreadable) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(AttemptError::Permanent(texts::NO_PHOTO.to_owned()))
}

async fn save_card(generator: &Generator, job: &Job, card: Vec<u8>) -> Result<(), AttemptError> {
    let name = job.target.object_name(job.id, "jpg");
    let bucket = &job.target.bucket;
    generator
        .store
        .put(bucket, &name, "image/jpeg", Bytes::from(card))
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
