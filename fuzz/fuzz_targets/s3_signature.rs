//! A signature of S3 is accepted if, and only if, it was made with the secret for this request.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| selvedge_storage::check_signature(text));
