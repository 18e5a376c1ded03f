//! Zoom: OAuth 2.0. The scopes are configured in Zoom's registration of the app, so none are requested.

use crate::http_client::Call;
use crate::providers::definition::{Definition, NO_ID_TOKENS, NamedProvider, choose_base_url};
use crate::providers::profile::Profile;
use crate::providers::profile_api::{ApiContext, ProfileApi, Responses};

/// `login_type` of accounts with a Zoom password.
const LOGIN_BY_PASSWORD: i64 = 100;
/// `login_type` of accounts that sign in by Facebook, Google and Apple.
const LOGINS_BY_VERIFYING_PROVIDERS: [i64; 3] = [0, 1, 24];

pub(super) const PROVIDER: NamedProvider = NamedProvider {
    name: "zoom",
    define,
    id_token_rules: NO_ID_TOKENS,
};

fn define(url: Option<&str>) -> Option<Definition> {
    let auth = format!("{}/oauth", choose_base_url(url, "https://zoom.us"));
    let authorize = format!("{auth}/authorize");
    let token = format!("{auth}/token");
    let api = ProfileApi {
        base: format!("{}/v2", choose_base_url(url, "https://api.zoom.us")),
        build_calls,
        read_profile,
    };
    Some(Definition {
        accepts_scopes: false,
        ..Definition::with_api(authorize, token, api, &[])
    })
}

fn build_calls(api: &ApiContext<'_>) -> Vec<Call> {
    vec![api.get("/users/me")]
}

/// Reads `{id, first_name, last_name, pic_url, email, login_type, verified}`; `verified` is 0 or 1.
///
/// `verified` is meaningful only for accounts with a Zoom password. Facebook, Google and Apple have verified the addresses of theirs.
/// Others are what the single sign-on of some organization says, or what its administrator has entered.
fn read_profile(api: &ApiContext<'_>, responses: &Responses) -> Profile {
    let user = responses.object(0);
    let login = user.number("login_type");
    let login = login.or_else(|| user.text("login_type").parse().ok());
    let is_verified = is_verified(login, user.number("verified"));
    Profile::new(api.base, user.text("id"))
        .with_full_name(&user.full_name("first_name", "last_name"))
        .with_picture(user.text("pic_url"))
        .with_email(user.text("email"), is_verified)
}

/// Whether the address of an account with this `login_type` and `verified` is its owner's.
fn is_verified(login: Option<i64>, verified: Option<i64>) -> bool {
    match login {
        Some(LOGIN_BY_PASSWORD) => verified.is_some_and(|flag| flag != 0),
        Some(login) => LOGINS_BY_VERIFYING_PROVIDERS.contains(&login),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_103_what_the_single_sign_on_of_an_organization_says_is_not_verified() {
        for (login, verified, expected) in [
            (Some(100), Some(1), true),
            (Some(100), Some(0), false),
            (Some(100), None, false),
            (Some(1), None, true),
            (Some(101), Some(1), false),
            (Some(99), Some(1), false),
            (None, Some(1), false),
        ] {
            assert_eq!(is_verified(login, verified), expected, "{login:?} {verified:?}");
        }
    }
}
