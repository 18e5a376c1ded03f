//! `selvedge`: the Supabase API in one binary on a real PostgreSQL.

use std::process::ExitCode;

// mimalloc with the feature `no_thp`: transparent huge pages more than double the resident memory of an idle server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    selvedge_server::run()
}
