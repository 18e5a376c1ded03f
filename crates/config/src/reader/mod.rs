//! Reads the keys of `config.toml` and what overrides them, and notes where each value comes from.
//!
//! A [`Source`](source::Source) holds the file, the environment, and the messages found so far. A [`Section`](section::Section) is one of
//! its tables. What the keys mean is in `sections`.

pub(crate) mod effective;
mod operator_keys;
pub(crate) mod removed;
pub(crate) mod section;
pub(crate) mod setting;
pub(crate) mod source;
mod typed_values;
mod units;
