//! The framer's result must not depend on how the network splits a stream. The first byte is the length of the pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some((piece, stream)) = data.split_first() {
        selvedge_gateway::fuzzing::check_framing(stream, usize::from(*piece));
    }
});
