//! Export of a table's rows as a file (CONSOLE-058).
//!
//! The page first requests a ticket with the grid's filters and order; then the browser downloads the rows with that ticket
//! in the same session. Only a few chunks of the file are in memory.

mod create;
mod download;
mod format;
mod output;
mod priority;
mod row_limit;
mod statement;
mod ticket;

pub(super) use create::create_ticket;
pub(super) use download::download_export;
pub(crate) use ticket::ExportTickets;
