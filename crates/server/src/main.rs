//! `selvedge`: the Supabase API in one binary on a real PostgreSQL.

fn main() {}
