//! The result of rendering: an encoded image, or the reason why there is none.

use std::time::Instant;

/// An encoded image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RenderedImage {
    pub(super) content_type: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// Why a source cannot be rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RenderError {
    /// Too many pixels, frames or scans.
    TooLarge,
    /// Not an image, a corrupt one, or a format that we do not decode.
    Invalid,
    /// Rendering took longer than allowed.
    OutOfTime,
}

impl From<image::ImageError> for RenderError {
    fn from(error: image::ImageError) -> Self {
        match error {
            image::ImageError::Limits(_) => Self::TooLarge,
            _ => Self::Invalid,
        }
    }
}

impl From<selvedge_pictures::ContradictorySizes> for RenderError {
    fn from(_: selvedge_pictures::ContradictorySizes) -> Self {
        Self::Invalid
    }
}

/// Until when a rendering may run. A thread of the blocking pool cannot be cancelled, so the work checks it between
/// steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(pub(super) Instant);

impl Deadline {
    /// # Errors
    /// `OutOfTime` when it has passed.
    pub(super) fn check(self) -> Result<(), RenderError> {
        if Instant::now() < self.0 {
            Ok(())
        } else {
            Err(RenderError::OutOfTime)
        }
    }
}
