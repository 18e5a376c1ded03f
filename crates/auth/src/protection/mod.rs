//! Protection against abuse: captchas, leaked passwords, and response times that reveal nothing.

pub(crate) mod captcha;
pub(crate) mod constant_time;
pub(crate) mod leaked_passwords;
