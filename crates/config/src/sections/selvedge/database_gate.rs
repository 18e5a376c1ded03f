//! `[selvedge.database_gate]`: the port by which people reach the database of a home.

use crate::reader::section::Section;

/// `[selvedge.database_gate]`.
#[derive(Debug, Clone)]
pub struct DatabaseGateSection {
    /// The port. Default: none, the gate is closed.
    pub port: u16,
    /// The address to listen on. Default: all addresses with a certificate, else 127.0.0.1.
    pub host: Option<String>,
}

impl DatabaseGateSection {
    /// `None` without a port.
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        let host = section.optional_string("host");
        let port = section.optional_integer("port", 1..=65_535)?;
        Some(Self { port, host })
    }
}
