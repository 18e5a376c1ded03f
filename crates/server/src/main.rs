//! `selvedge`: the Supabase API in one binary on a real PostgreSQL.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    selvedge_server::run()
}
