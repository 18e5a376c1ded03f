//! `selvedge`: the Supabase API in one binary on a real PostgreSQL.

use std::process::ExitCode;

// Without transparent huge pages (feature `no_thp`): they more than double what an idle server occupies.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    selvedge_server::run()
}
