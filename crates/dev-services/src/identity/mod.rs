//! The development identity provider: sign-in pages, token endpoints and profile APIs of the known providers.
//!
//! A provider's URL `https://host/path` is answered at `/sign-in/<provider>/host/path`. A sign-in passes
//! [`authorize`] (the page, in [`page`]), [`choose`] (the person who was picked), [`token`] and [`resource`] (the
//! profile); what providers differ in is in [`providers`].

use actix_web::web;

mod authorize;
mod choose;
mod dispatch;
mod grants;
mod html;
mod id_token_page;
mod oauth1;
mod openid;
mod outcome;
mod page;
mod people;
mod people_api;
mod person;
mod person_ids;
mod picture;
mod provider;
mod providers;
mod redirect;
mod resource;
mod settings;
mod state;
mod subject;
mod token;

use settings::ROOT;
pub use settings::{IdentitySettings, ProviderClient, provider_url};
pub use state::IdentityState;

/// Mounts the pages, the providers' endpoints and the API for tests.
pub fn configure(state: web::Data<IdentityState>) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
    Box::new(move |config| {
        config.service(
            web::scope(ROOT)
                .app_data(state)
                .route("", web::get().to(page::show_overview))
                .route("/api/people", web::get().to(people_api::list_people))
                .route("/api/people", web::post().to(people_api::save_person))
                .route("/api/people", web::delete().to(people_api::delete_people))
                .route("/api/people/{id}", web::delete().to(people_api::delete_person))
                .route("/api/id-token", web::post().to(people_api::create_id_token))
                .route("/pictures/{name}", web::get().to(picture::get_picture))
                .route("/{provider}", web::get().to(id_token_page::show_page))
                .route("/{provider}", web::post().to(id_token_page::create_token))
                .route("/{provider}/choose", web::post().to(choose::choose_person))
                .route("/{provider}/{called:.+}", web::to(dispatch::answer_call)),
        );
    })
}
