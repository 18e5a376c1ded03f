//! The route table of `/auth/v1`, and the middleware that writes error responses and runs what follows a commit.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::HeaderName;
use actix_web::middleware::{Next, from_fn};
use actix_web::{Error, HttpMessage, Resource, web};
use selvedge_gateway::Caller;

use crate::after_commit::{self, AfterCommit};
use crate::api;
use crate::error::{ApiVersion, AuthError, render_error};
use crate::feature_gates;
use crate::hooks;
use crate::mailer::{self, Notice};
use crate::state::AuthState;

/// Mounts the service under the prefix of the caller's scope.
pub fn configure(state: web::Data<AuthState>) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
    Box::new(move |config| {
        config.app_data(state).service(
            web::scope("")
                .wrap(from_fn(write_errors))
                .service(route("/health").get(api::health::get_health))
                .service(route("/settings").get(api::settings::get_settings))
                .service(route("/.well-known/jwks.json").get(api::jwks::get_jwks))
                .service(
                    route("/.well-known/openid-configuration")
                        .get(api::openid_configuration::get_openid_configuration),
                )
                .service(route("/signup").post(api::signup::sign_up))
                .service(route("/token").post(api::token::issue_tokens))
                .service(route("/otp").post(api::otp::send_otp))
                .service(route("/magiclink").post(api::otp::send_magic_link))
                .service(
                    route("/verify")
                        .get(api::verify::verify_link)
                        .post(api::verify::verify_code),
                )
                .service(route("/recover").post(api::recover::send_recovery))
                .service(route("/resend").post(api::resend::resend_confirmation))
                .service(route("/reauthenticate").get(api::reauthenticate::send_reauthentication_code))
                .service(
                    route("/user")
                        .get(api::get_user::get_user)
                        .put(api::update_user::update_user),
                )
                .service(route("/logout").post(api::logout::delete_sessions))
                .service(route("/user/identities/authorize").get(api::authorize::redirect_to_link_provider))
                .service(route("/user/identities/{id}").delete(api::unlink_identity::unlink_identity))
                .service(route("/authorize").get(api::authorize::redirect_to_provider))
                .service(
                    route("/callback")
                        .get(api::callback::finish_callback_query)
                        .post(api::callback::finish_callback_form),
                )
                .configure(admin_routes)
                .configure(factor_routes)
                .configure(oauth_server_routes)
                .configure(provider_admin_routes)
                .configure(saml_routes)
                .configure(scim_routes)
                .default_service(web::to(feature_gates::respond_to_unknown_path)),
        );
    })
}

/// Users and the audit log, for administrators.
fn admin_routes(config: &mut web::ServiceConfig) {
    config
        .service(route("/invite").post(api::admin_invite::invite_user))
        .service(route("/admin/generate_link").post(api::admin_generate_link::generate_link))
        .service(route("/admin/audit").get(api::admin_audit::list_audit_entries))
        .service(
            route("/admin/users")
                .get(api::admin_list_users::list_users)
                .post(api::admin_create_user::create_user),
        )
        .service(
            route("/admin/users/{id}")
                .get(api::admin_get_user::get_user)
                .put(api::admin_update_user::update_user)
                .delete(api::admin_delete_user::delete_user),
        )
        .service(route("/admin/users/{id}/factors").get(api::admin_factors::list_factors))
        .service(
            route("/admin/users/{id}/factors/{factor_id}")
                .put(api::admin_factors::update_factor)
                .delete(api::admin_factors::delete_factor),
        )
        .service(route("/admin/users/{id}/passkeys").get(api::passkeys::list_passkeys_of_user))
        .service(
            route("/admin/users/{id}/passkeys/{passkey_id}").delete(api::passkeys::delete_passkey_of_user),
        );
}

/// Second factors and passkeys.
fn factor_routes(config: &mut web::ServiceConfig) {
    config
        .service(route("/factors").post(api::factor_enroll::enroll_factor))
        // Before `/factors/{id}`, which would take these words for ids.
        .service(
            route("/factors/recovery-codes")
                .get(api::recovery_codes::get_status)
                .post(api::recovery_codes::generate_codes)
                .delete(api::recovery_codes::delete_codes),
        )
        .service(route("/factors/recovery-codes/verify").post(api::recovery_codes::verify_code))
        .service(route("/factors/recovery-codes/regenerate").post(api::recovery_codes::regenerate_codes))
        .service(route("/factors/{id}").delete(api::factor_unenroll::unenroll_factor))
        .service(route("/factors/{id}/challenge").post(api::factor_challenge::challenge_factor))
        .service(route("/factors/{id}/verify").post(api::factor_verify::verify_factor))
        .service(route("/passkeys").get(api::passkeys::list_passkeys))
        .service(
            route("/passkeys/registration/options")
                .post(api::passkey_registration::create_registration_options),
        )
        .service(route("/passkeys/registration/verify").post(api::passkey_registration::verify_registration))
        .service(
            route("/passkeys/authentication/options")
                .post(api::passkey_authentication::create_authentication_options),
        )
        .service(
            route("/passkeys/authentication/verify").post(api::passkey_authentication::verify_authentication),
        )
        .service(
            route("/passkeys/{id}")
                .patch(api::passkeys::rename_passkey)
                .delete(api::passkeys::delete_passkey),
        );
}

/// The OAuth server and its clients.
fn oauth_server_routes(config: &mut web::ServiceConfig) {
    config
        .service(
            route("/.well-known/oauth-authorization-server")
                .get(api::openid_configuration::get_oauth_server_metadata),
        )
        .service(route("/oauth/clients/register").post(api::oauth_clients::register_client))
        .service(route("/oauth/authorize").get(api::oauth_authorize::authorize_client))
        .service(route("/oauth/authorizations/{id}").get(api::oauth_authorize::get_authorization))
        .service(route("/oauth/authorizations/{id}/consent").post(api::oauth_authorize::decide_authorization))
        .service(route("/oauth/token").post(api::oauth_token::issue_client_tokens))
        .service(route("/oauth/userinfo").get(api::oauth_user::get_userinfo))
        .service(
            route("/user/oauth/grants")
                .get(api::oauth_user::list_grants)
                .delete(api::oauth_user::revoke_grant),
        )
        .service(
            route("/admin/oauth/clients")
                .get(api::oauth_clients::list_clients)
                .post(api::oauth_clients::create_client),
        )
        .service(
            route("/admin/oauth/clients/{id}")
                .get(api::oauth_clients::get_client)
                .put(api::oauth_clients::update_client)
                .delete(api::oauth_clients::delete_client),
        )
        .service(
            route("/admin/oauth/clients/{id}/regenerate_secret").post(api::oauth_clients::regenerate_secret),
        );
}

/// SAML and custom providers, for administrators.
fn provider_admin_routes(config: &mut web::ServiceConfig) {
    config
        .service(
            route("/admin/sso/providers")
                .get(api::admin_sso_providers::list_providers)
                .post(api::admin_sso_providers::create_provider),
        )
        .service(
            route("/admin/sso/providers/{id}")
                .get(api::admin_sso_providers::get_provider)
                .put(api::admin_sso_providers::update_provider)
                .delete(api::admin_sso_providers::delete_provider),
        )
        .service(
            route("/admin/custom-providers")
                .get(api::admin_custom_providers::list_providers)
                .post(api::admin_custom_providers::create_provider),
        )
        .service(
            route("/admin/custom-providers/{identifier}")
                .get(api::admin_custom_providers::get_provider)
                .put(api::admin_custom_providers::update_provider)
                .delete(api::admin_custom_providers::delete_provider),
        );
}

/// Sign-in by SAML.
fn saml_routes(config: &mut web::ServiceConfig) {
    config
        .service(route("/sso").post(api::sso::start_sso))
        .service(route("/sso/saml/metadata").get(api::saml_metadata::get_metadata))
        .service(route("/sso/saml/acs").post(api::saml_acs::consume_assertion));
}

/// Discovery of SCIM.
fn scim_routes(config: &mut web::ServiceConfig) {
    config
        .service(route("/scim/v2/ServiceProviderConfig").get(api::scim::get_service_provider_config))
        .service(route("/scim/v2/ResourceTypes").get(api::scim::list_nothing))
        .service(route("/scim/v2/Schemas").get(api::scim::list_nothing))
        .service(web::resource("/scim/{path:.*}").to(api::scim::respond_not_found));
}

/// A path with and without a trailing slash; other methods than those given are 405.
fn route(path: &str) -> Route {
    Route {
        path: path.to_owned(),
        methods: Vec::new(),
        // Two resources instead of one with two patterns: actix compares a single fixed path as text, but searches several by
        // regular expressions, and each request is compared with all routes in front of its own.
        resources: [web::resource(path), web::resource(format!("{path}/"))],
    }
}

/// One line of the route table: a path and the methods that it serves.
struct Route {
    path: String,
    methods: Vec<&'static str>,
    resources: [Resource; 2],
}

macro_rules! methods {
    ($($name:ident $verb:literal),*) => {
        impl Route {
            $(
                /// Adds a handler for this method.
                fn $name<F, Args>(mut self, handler: F) -> Self
                where
                    F: actix_web::Handler<Args>,
                    Args: actix_web::FromRequest + 'static,
                    F::Output: actix_web::Responder + 'static,
                {
                    self.methods.push($verb);
                    self.resources = self
                        .resources
                        .map(|resource| resource.route(web::$name().to(handler.clone())));
                    self
                }
            )*
        }
    };
}
methods!(get "GET", post "POST", put "PUT", delete "DELETE", patch "PATCH");

impl actix_web::dev::HttpServiceFactory for Route {
    fn register(self, config: &mut actix_web::dev::AppService) {
        for resource in self.resources {
            let wrong_method = feature_gates::reject_other_methods(&self.path, &self.methods);
            resource.default_service(wrong_method).register(config);
        }
    }
}

/// Renders errors in the shape that the client understands, and logs faults of the service, which happens only here.
async fn write_errors(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let version = ApiVersion::from_headers(request.headers());
    let request_id = request
        .extensions()
        .get::<Caller>()
        .map(|caller| caller.request_id().as_str().to_owned());
    let state = request.app_data::<web::Data<AuthState>>().cloned();
    let path = request.match_info().unprocessed().to_owned();
    if let Some(state) = &state
        && let Err(refusal) = feature_gates::check_feature(state, &path)
    {
        return Ok(request.into_response(render_error(&refusal, version, None)));
    }
    let (response, records) = after_commit::collect_records(next.call(request)).await;
    let response = response?.map_into_boxed_body();
    let error_headers = records.error_headers.clone();
    if let Some(state) = state.filter(|_| response.status().as_u16() < 400) {
        run_after_commit(&state, records);
    }
    let Some(error) = response
        .response()
        .error()
        .and_then(actix_web::Error::as_error::<AuthError>)
    else {
        return Ok(response);
    };
    let refusal = match error {
        AuthError::BadJson(_) | AuthError::TooLarge => {
            feature_gates::check_caller(&path, response.request()).await.err()
        }
        _ => None,
    };
    let error = refusal.as_ref().unwrap_or(error);
    if let AuthError::Internal { .. } | AuthError::Overloaded | AuthError::DatabaseUnavailable(_) = error {
        tracing::error!(request_id, %error, "request failed");
    }
    let mut written = render_error(error, version, request_id.as_deref());
    for (name, value) in error_headers {
        written.headers_mut().insert(HeaderName::from_static(name), value);
    }
    let (request, _) = response.into_parts();
    Ok(ServiceResponse::new(request, written))
}

/// Runs what a successful request has recorded, in a task of its own: the client does not wait for it.
fn run_after_commit(state: &AuthState, records: AfterCommit) {
    if records.has_mail {
        state.outbox.wake();
    }
    if records.created_users.is_empty() && records.notices.is_empty() {
        return;
    }
    actix_web::rt::spawn(async move {
        for (request, user) in &records.created_users {
            hooks::call_after_user_created(request, user).await;
        }
        for notice in &records.notices {
            let details = Notice {
                provider: &notice.provider,
                old_email: &notice.old_email,
                ..Notice::default()
            };
            mailer::notify_user(&notice.request, &notice.user, notice.kind, details).await;
        }
    });
}
