//! Who may call an endpoint of `/api`.

use crate::state::Level;

/// The callers that are admitted to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Accepts everybody who passes the guards, signed in or not.
    Open,
    /// A download that the browser starts by navigation, so that the page cannot add a header. It accepts a session by its
    /// cookie alone, and the handler requires a ticket that was issued to the session.
    Ticket,
    /// The endpoint is open to accounts of this level and above.
    From(Level),
}
