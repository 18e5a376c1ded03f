//! Parses requests into typed values: paths, query strings, JSON bodies and multipart forms.

pub(crate) mod form;
pub(crate) mod json_body;
pub(crate) mod object_path;
pub(crate) mod query;
