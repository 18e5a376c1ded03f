//! Realtime on a real PostgreSQL. All tests of this crate are one program, because each further one would be linked with the same
//! libraries again.

mod changes;
mod sockets;
