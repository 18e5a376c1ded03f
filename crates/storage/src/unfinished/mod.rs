//! Uploads that are not objects yet, of both protocols that have them: resumable uploads and S3 multipart uploads.
//!
//! Their bytes are in no list and in no size of a bucket. So each user and each address has a [`share`] of them, and they are
//! removed with their bucket ([`abort`]). What nobody continues is removed by [`maintenance`](crate::maintenance).

mod abort;
mod share;

pub(crate) use abort::{abort_multipart_uploads, abort_uploads};
pub(crate) use share::{HELD_BYTES, Holder, Share, within_share};
