//! Checks that come before a handler or take its place: features that are off, and responses for unknown
//! paths and methods.
//!
//! A feature that is off responds 404 before the token is verified. Below `/user`, `/factors`, `/admin` and
//! the like the token is checked first, so that requests without one do not learn which paths exist. Source:
//! Auth contract §2.1, AUTH-061, AUTH-095.

use actix_web::http::header;
use actix_web::{FromRequest, HttpRequest, HttpResponse, web};

use crate::error::{AuthError, FeatureError, PasskeyError};
use crate::flows::saml::start_sign_in::get_config;
use crate::request::{Admin, SignedIn};
use crate::state::AuthState;

/// Whether `path` is `prefix` or lies below it.
fn is_within(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Refuses paths of a feature that is off. `path` is relative to the service's prefix.
///
/// # Errors
/// 404 with the feature's own code.
pub(crate) fn check_feature(state: &AuthState, path: &str) -> Result<(), AuthError> {
    if is_within(path, "/passkeys") {
        check_passkeys(state)
    } else if is_within(path, "/oauth") {
        check_oauth_server(state)
    } else if is_within(path, "/sso") {
        get_config(state).map(|_| ())
    } else if is_within(path, "/scim") && !state.config.scim_enabled {
        Err(FeatureError::ScimDisabled.into())
    } else {
        Ok(())
    }
}

/// Refuses requests while the OAuth server is off.
///
/// # Errors
/// 404 `feature_disabled`.
pub(crate) fn check_oauth_server(state: &AuthState) -> Result<(), AuthError> {
    if state.config.oauth_server.enabled {
        return Ok(());
    }
    Err(FeatureError::OauthServerDisabled.into())
}

/// Refuses requests while the project has no passkeys.
///
/// # Errors
/// 404 `passkey_disabled`.
pub(crate) fn check_passkeys(state: &AuthState) -> Result<(), AuthError> {
    if state.config.webauthn.passkeys_enabled {
        return Ok(());
    }
    Err(PasskeyError::Disabled.into())
}

/// Who may learn which paths exist in a part of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visibility {
    Everybody,
    Users,
    Admins,
}

impl Visibility {
    fn of_path(path: &str) -> Self {
        const USERS: [&str; 4] = ["/user", "/reauthenticate", "/factors", "/passkeys/registration"];
        let is_for_users = |path: &str| {
            USERS.iter().any(|prefix| is_within(path, prefix))
                || path.starts_with("/passkeys/") && !is_within(path, "/passkeys/authentication")
        };
        if is_within(path, "/admin") {
            Self::Admins
        } else if is_for_users(path) {
            Self::Users
        } else {
            Self::Everybody
        }
    }

    async fn check_caller(self, request: &HttpRequest) -> Result<(), AuthError> {
        match self {
            Self::Everybody => Ok(()),
            Self::Users => SignedIn::extract(request).await.map(|_| ()),
            Self::Admins => Admin::extract(request).await.map(|_| ()),
        }
    }
}

/// Checks whether the caller may use a path at all. Extractors of one request run at the same time, so a malformed body may
/// be found before the token's user is read from the database; callers without the right must not learn about bodies.
/// `path` is relative to the service's prefix.
///
/// # Errors
/// Those of [`SignedIn`] and [`Admin`].
pub(crate) async fn check_caller(path: &str, request: &HttpRequest) -> Result<(), AuthError> {
    let visibility = if is_within(path, "/invite") {
        Visibility::Admins
    } else if is_within(path, "/oauth/authorizations") {
        Visibility::Users
    } else {
        Visibility::of_path(path)
    };
    visibility.check_caller(request).await
}

/// 404 with the text of upstream's router.
pub(crate) async fn respond_to_unknown_path(request: HttpRequest) -> Result<HttpResponse, AuthError> {
    let path = request.match_info().unprocessed().to_owned();
    Visibility::of_path(&path).check_caller(&request).await?;
    Ok(HttpResponse::NotFound()
        .insert_header((header::CONTENT_TYPE, "text/plain; charset=utf-8"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body("404 page not found\n"))
}

/// 405 without a body, for the methods that a path of the route table does not have.
pub(crate) fn reject_other_methods(path: &str, allowed: &[&str]) -> actix_web::Route {
    let visibility = Visibility::of_path(path);
    let allow = allowed.join(", ");
    web::to(move |request: HttpRequest| {
        let allow = allow.clone();
        async move {
            visibility.check_caller(&request).await?;
            Ok::<_, AuthError>(
                HttpResponse::MethodNotAllowed()
                    .insert_header((header::ALLOW, allow))
                    .finish(),
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_061_a_path_prefix_ends_at_a_slash() {
        assert_eq!(Visibility::of_path("/user"), Visibility::Users);
        assert_eq!(Visibility::of_path("/user/nothing"), Visibility::Users);
        assert_eq!(Visibility::of_path("/users"), Visibility::Everybody);
        assert_eq!(Visibility::of_path("/admin/nothing"), Visibility::Admins);
        assert_eq!(Visibility::of_path("/passkeys"), Visibility::Everybody);
        assert_eq!(Visibility::of_path("/passkeys/{id}"), Visibility::Users);
        assert_eq!(
            Visibility::of_path("/passkeys/authentication/x"),
            Visibility::Everybody
        );
        assert_eq!(Visibility::of_path("/logout"), Visibility::Everybody);
    }
}
