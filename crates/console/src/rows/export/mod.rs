//! Export of a table's rows as a file (CONSOLE-058).
//!
//! A ticket is asked for first, with the filters and the order of the grid; the rows are then streamed to whoever brings
//! the ticket within the same session. Nothing but a few portions of the file is ever in memory.

mod create;
mod download;
mod format;
mod output;
mod statement;
mod ticket;

pub(super) use create::create_ticket;
pub(super) use download::download_export;
pub(crate) use ticket::ExportTickets;
