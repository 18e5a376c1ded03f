//! Builds responses: JSON bodies, and responses that carry the bytes of an object.

pub(crate) mod byte_range;
pub(crate) mod json;
pub(crate) mod object_headers;
pub(crate) mod object_response;
pub(crate) mod validators;
