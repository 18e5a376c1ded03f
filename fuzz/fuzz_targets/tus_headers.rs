//! The metadata of a resumable upload comes back from HEAD as it was accepted.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| selvedge_storage::check_metadata(text));
