//! The logins of the console's viewers.
//!
//! Whoever logs in as a role may end every session that has logged in as it, so each text of a viewer has a login that no other session has. Their
//! rights are those of `selvedge_console_reader`, of which they are members.

use std::sync::atomic::{AtomicU8, Ordering};

use super::{StatementCanceller, TextSession, TextSessionError};
use crate::{Database, Login};

/// The roles as which viewers log in: the first for what the console itself reads for them, and each of the others for one text at a time
/// (`sql/platform/0197_console_readers.sql`).
pub const CONSOLE_READERS: [&str; 17] = [
    "selvedge_console_reader_0",
    "selvedge_console_reader_1",
    "selvedge_console_reader_2",
    "selvedge_console_reader_3",
    "selvedge_console_reader_4",
    "selvedge_console_reader_5",
    "selvedge_console_reader_6",
    "selvedge_console_reader_7",
    "selvedge_console_reader_8",
    "selvedge_console_reader_9",
    "selvedge_console_reader_10",
    "selvedge_console_reader_11",
    "selvedge_console_reader_12",
    "selvedge_console_reader_13",
    "selvedge_console_reader_14",
    "selvedge_console_reader_15",
    "selvedge_console_reader_16",
];
/// How many texts of viewers run at the same time, of all nodes together.
const TEXTS: u8 = 16;
const _: () = assert!(TEXTS as usize + 1 == CONSOLE_READERS.len());

impl Database {
    /// Opens a session for the text of a viewer, as the only one of its login. Must be used on the thread that opened it.
    ///
    /// # Errors
    /// When the database is away, refuses the login, or runs texts as all of these logins.
    pub async fn viewer_session(&self) -> Result<(TextSession, StatementCanceller), TextSessionError> {
        static NEXT: AtomicU8 = AtomicU8::new(0);
        let first = NEXT.fetch_add(1, Ordering::Relaxed);
        for tried in 0..TEXTS {
            let number = first.wrapping_add(tried) % TEXTS + 1;
            match self.text_session(Login::ConsoleText(number)).await {
                // PostgreSQL allows each one session, also beside those that other nodes have opened.
                Err(error) if error.is_too_many_connections() => {}
                opened => return opened,
            }
        }
        Err(TextSessionError::new(format!(
            "{TEXTS} statements of viewers run already, or the database has no connection left"
        )))
    }
}
