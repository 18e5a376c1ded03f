//! The routes of `/auth/v1` as one table, and the one place that writes errors.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::HeaderName;
use actix_web::middleware::{Next, from_fn};
use actix_web::{Error, HttpMessage, Resource, web};
use selvedge_gateway::Caller;

use crate::aftermath::{self, Aftermath};
use crate::api;
use crate::error::{ApiVersion, AuthError, render};
use crate::gates;
use crate::hooks;
use crate::letters;
use crate::state::AuthState;

/// Mounts the service; the caller chooses the prefix.
pub fn configure(state: web::Data<AuthState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config.app_data(state).service(
            web::scope("")
                .wrap(from_fn(write_errors))
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
                .service(at("/admin/users/{id}/factors").get(api::admin_factors::list_factors))
                .service(
                    at("/admin/users/{id}/factors/{factor_id}")
                        .put(api::admin_factors::update_factor)
                        .delete(api::admin_factors::delete_factor),
                )
                .service(at("/admin/users/{id}/passkeys").get(api::passkeys::list_of_user))
                .service(at("/admin/users/{id}/passkeys/{passkey_id}").delete(api::passkeys::delete_of_user))
                .service(at("/factors").post(api::factor_enroll::enroll_factor))
                .service(at("/factors/{id}").delete(api::factor_unenroll::unenroll_factor))
                .service(at("/factors/{id}/challenge").post(api::factor_challenge::challenge_factor))
                .service(at("/factors/{id}/verify").post(api::factor_verify::verify_factor))
                .service(at("/passkeys").get(api::passkeys::list))
                .service(at("/passkeys/registration/options").post(api::passkey_registration::options))
                .service(at("/passkeys/registration/verify").post(api::passkey_registration::verify))
                .service(at("/passkeys/authentication/options").post(api::passkey_authentication::options))
                .service(at("/passkeys/authentication/verify").post(api::passkey_authentication::verify))
                .service(
                    at("/passkeys/{id}")
                        .patch(api::passkeys::rename)
                        .delete(api::passkeys::delete),
                )
                .configure(federation)
                .configure(api::not_offered::configure)
                .default_service(web::to(gates::no_route)),
        );
    }
}

/// The OAuth server's part of the table, and the providers that administrators keep.
fn federation(config: &mut web::ServiceConfig) {
    config
        .service(
            at("/.well-known/oauth-authorization-server")
                .get(api::openid_configuration::oauth_authorization_server),
        )
        .service(at("/oauth/clients/register").post(api::oauth_clients::register))
        .service(at("/oauth/authorize").get(api::oauth_authorize::authorize))
        .service(at("/oauth/authorizations/{id}").get(api::oauth_authorize::get_authorization))
        .service(at("/oauth/authorizations/{id}/consent").post(api::oauth_authorize::decide))
        .service(at("/oauth/token").post(api::oauth_token::token))
        .service(at("/oauth/userinfo").get(api::oauth_user::userinfo))
        .service(
            at("/user/oauth/grants")
                .get(api::oauth_user::list_grants)
                .delete(api::oauth_user::revoke_grant),
        )
        .service(
            at("/admin/oauth/clients")
                .get(api::oauth_clients::list_clients)
                .post(api::oauth_clients::create_client),
        )
        .service(
            at("/admin/oauth/clients/{id}")
                .get(api::oauth_clients::get_client)
                .put(api::oauth_clients::update_client)
                .delete(api::oauth_clients::delete_client),
        )
        .service(
            at("/admin/sso/providers")
                .get(api::admin_sso_providers::list_providers)
                .post(api::admin_sso_providers::create_provider),
        )
        .service(
            at("/admin/sso/providers/{id}")
                .get(api::admin_sso_providers::get_provider)
                .put(api::admin_sso_providers::update_provider)
                .delete(api::admin_sso_providers::delete_provider),
        )
        .service(
            at("/admin/custom-providers")
                .get(api::admin_custom_providers::list_providers)
                .post(api::admin_custom_providers::create_provider),
        )
        .service(
            at("/admin/custom-providers/{identifier}")
                .get(api::admin_custom_providers::get_provider)
                .put(api::admin_custom_providers::update_provider)
                .delete(api::admin_custom_providers::delete_provider),
        )
        .service(
            at("/admin/oauth/clients/{id}/regenerate_secret").post(api::oauth_clients::regenerate_secret),
        );
}

/// A path with and without a trailing slash; other methods than those given are 405.
pub(crate) fn at(path: &str) -> Route {
    let patterns = [path.to_owned(), format!("{path}/")];
    Route {
        path: path.to_owned(),
        methods: Vec::new(),
        resource: web::resource(patterns),
    }
}

/// One line of the table.
pub(crate) struct Route {
    path: String,
    methods: Vec<&'static str>,
    resource: Resource,
}

macro_rules! methods {
    ($($name:ident $verb:literal),*) => {
        impl Route {
            $(
                /// Serves this method.
                pub(crate) fn $name<F, Args>(mut self, handler: F) -> Self
                where
                    F: actix_web::Handler<Args>,
                    Args: actix_web::FromRequest + 'static,
                    F::Output: actix_web::Responder + 'static,
                {
                    self.methods.push($verb);
                    self.resource = self.resource.route(web::$name().to(handler));
                    self
                }
            )*
        }
    };
}
methods!(get "GET", post "POST", put "PUT", delete "DELETE", patch "PATCH");

impl actix_web::dev::HttpServiceFactory for Route {
    fn register(self, config: &mut actix_web::dev::AppService) {
        let wrong_method = gates::wrong_method(&self.path, &self.methods);
        self.resource.default_service(wrong_method).register(config);
    }
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
    let state = request.app_data::<web::Data<AuthState>>().cloned();
    if let Some(state) = &state
        && let Err(refusal) = gates::check_switches(state, request.match_info().unprocessed())
    {
        return Ok(request.into_response(render(&refusal, version, None)));
    }
    let (answer, aftermath) = aftermath::collect(next.call(request)).await;
    let response = answer?.map_into_boxed_body();
    let notes = aftermath.headers.clone();
    if let Some(state) = state.filter(|_| response.status().as_u16() < 400) {
        follow_up(&state, aftermath);
    }
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
    let mut written = render(error, version, request_id.as_deref());
    for (name, value) in notes {
        written.headers_mut().insert(HeaderName::from_static(name), value);
    }
    let (request, _) = response.into_parts();
    Ok(ServiceResponse::new(request, written))
}

/// Does what a request left to be done, without letting its client wait.
fn follow_up(state: &web::Data<AuthState>, aftermath: Aftermath) {
    if aftermath.has_mail {
        state.outbox.wake();
    }
    if aftermath.created.is_empty() && aftermath.identities.is_empty() {
        return;
    }
    let state = state.clone();
    actix_web::rt::spawn(async move {
        for (info, user) in &aftermath.created {
            hooks::user_was_created(&state, info, user).await;
        }
        for (info, user_id, kind, provider) in &aftermath.identities {
            letters::notify_of_identity(&state, info, *user_id, *kind, provider).await;
        }
    });
}
