//! Who may log in to the database besides the services.

pub mod local_logins;
pub mod people;
