//! The version of the client library that sends a request, which it tells in `X-Client-Info`.

use std::convert::Infallible;
use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};

/// The first version of supabase-js, and of its part auth-js, that knows recovery codes.
const KNOWS_RECOVERY_CODES: (u32, u32) = (2, 116);

/// Major and minor version of supabase-js or auth-js; `None` for other clients.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientVersion(Option<(u32, u32)>);

impl ClientVersion {
    /// Reads `supabase-js/2.109.0; runtime=node`, `supabase-js-web/2.40.0` and `gotrue-js/2.62.0`.
    fn parse(info: &str) -> Self {
        let read = || {
            let (name, version) = info.split_once('/')?;
            let is_ours = name == "gotrue-js" || name == "supabase-js" || name.starts_with("supabase-js-");
            let mut numbers = version.split('.').map(str::parse);
            is_ours.then_some((numbers.next()?.ok()?, numbers.next()?.ok()?))
        };
        Self(read())
    }

    /// Whether the client expects recovery codes among the factors of a user.
    pub(crate) fn knows_recovery_codes(self) -> bool {
        self.0.is_none_or(|version| version >= KNOWS_RECOVERY_CODES)
    }
}

impl FromRequest for ClientVersion {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let info = request.headers().get("x-client-info");
        let info = info.and_then(|info| info.to_str().ok()).unwrap_or_default();
        ready(Ok(Self::parse(info)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_209_versions_are_read_as_the_libraries_write_them() {
        for (info, knows) in [
            ("supabase-js/2.109.0; runtime=node", false),
            ("supabase-js-web/2.45.4", false),
            ("gotrue-js/2.115.1", false),
            ("supabase-js/2.116.0", true),
            ("supabase-js/2.119.1; platform=web", true),
            ("supabase-js/3.0.0", true),
            ("supabase-py/supabase_auth v2.34.1", true),
            ("supabase-js/x.y", true),
            ("", true),
        ] {
            assert_eq!(ClientVersion::parse(info).knows_recovery_codes(), knows, "{info}");
        }
    }
}
