//! A REST request becomes SQL that holds nothing of it outside of quotes and parameters.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| selvedge_rest::fuzzing::check_request(data));
