//! `PUT /{bucket}/{key}?partNumber=&uploadId=` with `x-amz-copy-source`: a part from a range of another object.

use actix_web::HttpResponse;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::LocalBoxStream;

use super::part::NewPart;
use crate::backend::BlobBody;
use crate::database::object_row::format_iso;
use crate::error::StorageError;
use crate::object::receive::receive_blob;
use crate::request::object_path::ObjectPath;
use crate::s3::context::S3Context;
use crate::s3::copy_object::find_copy_source;
use crate::s3::error::S3Error;
use crate::s3::xml_writer::{Xml, xml_response};

/// Entity tag and date of the new part.
///
/// # Errors
/// As [`upload_part`](super::upload_part); `NoSuchKey`, `InvalidCopyRange`, `PreconditionFailed` of the source.
pub(in crate::s3) async fn upload_part_copy(
    context: S3Context,
    target: ObjectPath,
) -> Result<HttpResponse, S3Error> {
    let part = NewPart::check(&context, &target).await?;
    let source = find_copy_source(&context).await?;
    let version = source.blob_version().ok_or(StorageError::BlobMissing)?;
    let storage = context.storage();
    let reader = storage
        .backend()
        .open(version)
        .await
        .map_err(StorageError::from)?;
    let (offset, length) = parse_copy_range(context.header("x-amz-copy-source-range"), reader.size_bytes())?;
    if length > part.size_limit {
        return Err(StorageError::EntityTooLarge.into());
    }
    let source: LocalBoxStream<'_, Result<Bytes, S3Error>> = match reader.read(offset, length) {
        BlobBody::Whole(bytes) => futures_util::stream::iter([Ok(bytes)]).boxed_local(),
        BlobBody::Stream(stream) => stream
            .map(|bytes| bytes.map_err(|error| StorageError::from(error).into()))
            .boxed_local(),
    };
    let received = receive_blob(storage, part.size_limit, source).await?;
    let info = part.record(context.service(), received).await?;
    Ok(xml_response(Xml::document("CopyPartResult", |xml| {
        xml.text("ETag", &info.etag);
        xml.text("LastModified", &format_iso(info.modified.into()));
    })))
}

/// Offset and length of `bytes=a-b`; the whole object when the header is absent.
fn parse_copy_range(header: Option<&str>, size_bytes: u64) -> Result<(u64, u64), S3Error> {
    let Some(header) = header else {
        return Ok((0, size_bytes));
    };
    let number = |text: &str| -> Option<u64> {
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if is_number { text.parse().ok() } else { None }
    };
    header
        .strip_prefix("bytes=")
        .and_then(|range| range.split_once('-'))
        .and_then(|(first, last)| Some((number(first)?, number(last)?)))
        .filter(|(first, last)| first <= last && *last < size_bytes)
        .map(|(first, last)| (first, last - first + 1))
        .ok_or(S3Error::InvalidCopyRange)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_ranges_need_both_ends_within_the_source() {
        assert_eq!(parse_copy_range(None, 5).expect("all"), (0, 5));
        assert_eq!(parse_copy_range(Some("bytes=1-3"), 5).expect("inside"), (1, 3));
        for bad in [
            "bytes=1-",
            "bytes=-2",
            "bytes=3-1",
            "bytes=0-5",
            "0-1",
            "bytes=0-1,2-3",
            "bytes=+1-2",
        ] {
            assert!(parse_copy_range(Some(bad), 5).is_err(), "{bad}");
        }
    }
}
