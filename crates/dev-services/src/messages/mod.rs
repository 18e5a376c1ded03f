//! The services that send text messages: each endpoint takes a message as the service does, and puts it into the inbox.
//!
//! A service is answered at `/messages/<service>/<path of its API>`. Twilio Verify is special, because it makes the codes and
//! checks them itself; [`verification`] keeps those.

use actix_web::guard::fn_guard;
use actix_web::http::header;
use actix_web::web;

mod messagebird;
mod settings;
mod state;
mod textlocal;
mod twilio;
mod twilio_verify;
mod verification;
mod vonage;

use settings::ROOT;
pub use settings::{SERVICE_NAMES, service_url};
pub use state::MessagesState;

/// Mounts the endpoints of all services.
pub fn configure(state: web::Data<MessagesState>) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
    Box::new(move |config| {
        config.service(
            web::scope(ROOT)
                // Browsers add `Origin` to every form that a page posts, so no foreign page can put messages into the inbox.
                .guard(fn_guard(|context| {
                    !context.head().headers().contains_key(header::ORIGIN)
                }))
                .app_data(state)
                .route(
                    // Without an account its id is empty.
                    "/twilio/2010-04-01/Accounts/{account:[^/]*}/Messages.json",
                    web::post().to(twilio::send_message),
                )
                .route(
                    "/twilio_verify/v2/Services/{service:[^/]*}/Verifications",
                    web::post().to(twilio_verify::start_verification),
                )
                .route(
                    "/twilio_verify/v2/Services/{service:[^/]*}/VerificationCheck",
                    web::post().to(twilio_verify::check_verification),
                )
                .route("/messagebird/messages", web::post().to(messagebird::send_message))
                .route("/textlocal/send", web::post().to(textlocal::send_message))
                .route("/vonage/sms/json", web::post().to(vonage::send_message)),
        );
    })
}
