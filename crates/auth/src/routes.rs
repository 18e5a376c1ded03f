//! The routes of `/auth/v1` as one table, and the one place that writes errors.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::{Next, from_fn};
use actix_web::{Error, HttpMessage, Resource, web};
use selvedge_gateway::Caller;

use crate::api;
use crate::error::{ApiVersion, AuthError, render};
use crate::state::AuthState;

/// Mounts the service; the caller chooses the prefix.
pub fn configure(state: web::Data<AuthState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config.app_data(state).service(
            web::scope("")
                .wrap(from_fn(write_errors))
                .app_data(web::QueryConfig::default().error_handler(bad_query))
                .service(at("/health").get(api::health::health))
                .service(at("/settings").get(api::settings::settings))
                .service(at("/.well-known/jwks.json").get(api::jwks::jwks))
                .service(
                    at("/.well-known/openid-configuration")
                        .get(api::openid_configuration::openid_configuration),
                )
                .service(at("/signup").post(api::signup::signup))
                .service(at("/token").post(api::token::token))
                .service(at("/otp").post(api::otp::otp))
                .service(at("/magiclink").post(api::otp::magic_link))
                .service(
                    at("/verify")
                        .get(api::verify::verify_link)
                        .post(api::verify::verify_code),
                )
                .service(at("/recover").post(api::recover::recover))
                .service(at("/resend").post(api::resend::resend))
                .service(at("/reauthenticate").get(api::reauthenticate::reauthenticate))
                .service(
                    at("/user")
                        .get(api::get_user::get_user)
                        .put(api::update_user::update_user),
                )
                .service(at("/logout").post(api::logout::logout))
                .service(at("/user/identities/authorize").get(api::authorize::authorize_link))
                .service(at("/user/identities/{id}").delete(api::unlink_identity::unlink_identity))
                .service(at("/authorize").get(api::authorize::authorize))
                .service(
                    at("/callback")
                        .get(api::callback::callback_query)
                        .post(api::callback::callback_form),
                )
                .service(at("/invite").post(api::admin_invite::invite))
                .service(at("/admin/generate_link").post(api::admin_generate_link::generate_link))
                .service(at("/admin/audit").get(api::admin_audit::list_audit_entries))
                .service(
                    at("/admin/users")
                        .get(api::admin_list_users::list_users)
                        .post(api::admin_create_user::create_user),
                )
                .service(
                    at("/admin/users/{id}")
                        .get(api::admin_get_user::get_user)
                        .put(api::admin_update_user::update_user)
                        .delete(api::admin_delete_user::delete_user),
                )
                .service(at("/admin/users/{id}/factors").get(api::admin_get_user::list_factors))
                .configure(api::not_offered::configure)
                .default_service(web::to(no_route)),
        );
    }
}

/// A path with and without a trailing slash; other methods than those given are 405.
pub(crate) fn at(path: &str) -> Route {
    let patterns = [path.to_owned(), format!("{path}/")];
    Route(web::resource(patterns).default_service(web::to(method_not_allowed)))
}

/// One line of the table.
pub(crate) struct Route(Resource);

macro_rules! methods {
    ($($name:ident),*) => {
        impl Route {
            $(
                /// Serves this method.
                pub(crate) fn $name<F, Args>(self, handler: F) -> Self
                where
                    F: actix_web::Handler<Args>,
                    Args: actix_web::FromRequest + 'static,
                    F::Output: actix_web::Responder + 'static,
                {
                    Self(self.0.route(web::$name().to(handler)))
                }
            )*
        }
    };
}
methods!(get, post, put, delete, patch);

impl actix_web::dev::HttpServiceFactory for Route {
    fn register(self, config: &mut actix_web::dev::AppService) {
        self.0.register(config);
    }
}

/// A query with a parameter twice, or in a broken encoding.
fn bad_query(error: actix_web::error::QueryPayloadError, _: &actix_web::HttpRequest) -> Error {
    AuthError::invalid(format!("Bad query: {error}")).into()
}

async fn no_route() -> Result<String, AuthError> {
    Err(AuthError::NoRoute)
}

async fn method_not_allowed() -> Result<String, AuthError> {
    Err(AuthError::MethodNotAllowed)
}

/// Writes errors in the shape that the client understands, and logs our own faults once, here.
async fn write_errors(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let version = ApiVersion::of(request.headers());
    let request_id = request
        .extensions()
        .get::<Caller>()
        .map(|caller| caller.request_id().as_str().to_owned());
    let response = next.call(request).await?.map_into_boxed_body();
    let Some(error) = response
        .response()
        .error()
        .and_then(actix_web::Error::as_error::<AuthError>)
    else {
        return Ok(response);
    };
    if let AuthError::Internal { .. } | AuthError::Overloaded = error {
        tracing::error!(request_id, %error, "request failed");
    }
    let written = render(error, version, request_id.as_deref());
    let (request, _) = response.into_parts();
    Ok(ServiceResponse::new(request, written))
}
