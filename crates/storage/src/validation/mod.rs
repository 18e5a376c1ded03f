//! Rules for names, sizes, content types, encodings and robots tags: pure functions without I/O.

pub(crate) mod content_encoding;
pub(crate) mod content_type;
pub(crate) mod limits;
pub(crate) mod names;
pub(crate) mod object_limits;
pub(crate) mod robots_tag;
