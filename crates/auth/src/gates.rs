//! What a request meets before, or instead of, a handler: switches of whole features, and the answers to paths and methods that
//! do not exist.
//!
//! A feature that is off says so before anybody is asked who they are. Below `/user`, `/factors`, `/admin` and their like it is
//! the other way round: strangers do not learn which paths exist. Source: Auth contract §2.1, AUTH-061, AUTH-095.

use actix_web::http::header;
use actix_web::{FromRequest, HttpRequest, HttpResponse, web};

use crate::api::{oauth_clients, passkeys};
use crate::error::AuthError;
use crate::request::{Admin, SignedIn};
use crate::state::AuthState;

/// Whether `path` is `part` or lies below it.
fn is_in(path: &str, part: &str) -> bool {
    path.strip_prefix(part)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Refuses what belongs to a feature that is off; `path` begins below the service's own prefix.
///
/// # Errors
/// 404 with the feature's own code.
pub(crate) fn check_switches(state: &AuthState, path: &str) -> Result<(), AuthError> {
    if is_in(path, "/passkeys") {
        passkeys::check_enabled(state)
    } else if is_in(path, "/oauth") {
        oauth_clients::check_enabled(state)
    } else {
        Ok(())
    }
}

/// Who may see the paths of a part of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Audience {
    Everybody,
    Users,
    Admins,
}

impl Audience {
    fn of(path: &str) -> Self {
        const USERS: [&str; 4] = ["/user", "/reauthenticate", "/factors", "/passkeys/registration"];
        let of_users = |path: &str| {
            USERS.iter().any(|part| is_in(path, part))
                || path.starts_with("/passkeys/") && !is_in(path, "/passkeys/authentication")
        };
        if is_in(path, "/admin") {
            Self::Admins
        } else if of_users(path) {
            Self::Users
        } else {
            Self::Everybody
        }
    }

    async fn check(self, request: &HttpRequest) -> Result<(), AuthError> {
        match self {
            Self::Everybody => Ok(()),
            Self::Users => SignedIn::extract(request).await.map(|_| ()),
            Self::Admins => Admin::extract(request).await.map(|_| ()),
        }
    }
}

/// 404, as upstream's router writes it.
pub(crate) async fn no_route(request: HttpRequest) -> Result<HttpResponse, AuthError> {
    let path = request.match_info().unprocessed().to_owned();
    Audience::of(&path).check(&request).await?;
    Ok(HttpResponse::NotFound()
        .insert_header((header::CONTENT_TYPE, "text/plain; charset=utf-8"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body("404 page not found\n"))
}

/// 405 without a body, for one path of the table.
pub(crate) fn wrong_method(path: &str, allowed: &[&str]) -> actix_web::Route {
    let audience = Audience::of(path);
    let allow = allowed.join(", ");
    web::to(move |request: HttpRequest| {
        let allow = allow.clone();
        async move {
            audience.check(&request).await?;
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
    fn parts_of_the_service_end_at_slashes() {
        assert_eq!(Audience::of("/user"), Audience::Users);
        assert_eq!(Audience::of("/user/nothing"), Audience::Users);
        assert_eq!(Audience::of("/users"), Audience::Everybody);
        assert_eq!(Audience::of("/admin/nothing"), Audience::Admins);
        assert_eq!(Audience::of("/passkeys"), Audience::Everybody);
        assert_eq!(Audience::of("/passkeys/{id}"), Audience::Users);
        assert_eq!(Audience::of("/passkeys/authentication/x"), Audience::Everybody);
        assert_eq!(Audience::of("/logout"), Audience::Everybody);
    }
}
