//! A `config.toml` is read without a panic, and each error and warning about it names a line of the file.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| selvedge_config::fuzzing::check_config(text));
