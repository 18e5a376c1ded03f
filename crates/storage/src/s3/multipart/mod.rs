//! Multipart uploads: each part is a separate blob, whose version is the id of its row; completion joins them.
//!
//! Rows are in `storage.s3_multipart_uploads` and `…_parts`, which only the service writes. Whether the caller may write the
//! object is checked at every step, as for an upload ([`multipart_upload`]). A crash can leave the blob of a part without a
//! row; it is an orphan like any other and removed by a sweep.

mod abort_upload;
mod complete_upload;
mod create_upload;
mod list_parts;
mod list_uploads;
mod multipart_upload;
mod part;
mod upload_part;
mod upload_part_copy;

pub(super) use abort_upload::abort_upload;
pub(super) use complete_upload::complete_upload;
pub(super) use create_upload::create_upload;
pub(super) use list_parts::list_parts;
pub(super) use list_uploads::list_uploads;
pub(super) use multipart_upload::MAX_PART_NUMBER;
pub(super) use upload_part::upload_part;
pub(super) use upload_part_copy::upload_part_copy;
