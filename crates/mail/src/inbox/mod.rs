//! The development inbox: it keeps every mail and text message that the project sends, for a person in a browser or for
//! tests that poll it.
//!
//! [`Inbox`] is the store; [`configure`] mounts the page, the JSON API in Mailpit's shape, and the older one in
//! Inbucket's; [`smtp::listen`] lets functions of the project deliver into it. Nothing is written to disk: a restart
//! empties it.

use actix_web::web;

mod api;
mod inbucket;
mod page;
pub mod smtp;
mod store;
mod text_message;

pub use store::{Address, Inbox, StoredMail, TextMessageDetails};
pub use text_message::{TextChannel, TextMessage, find_code};

/// Mounts the page and both APIs at the root of the inbox port.
pub fn configure(inbox: Inbox) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
    Box::new(move |config| {
        config
            .app_data(web::Data::new(inbox))
            .route("/", web::get().to(page::get_page))
            .route("/api/v1/info", web::get().to(api::get_info))
            .route("/api/v1/messages", web::get().to(api::list_messages))
            .route("/api/v1/messages", web::put().to(api::mark_messages))
            .route("/api/v1/messages", web::delete().to(api::delete_messages))
            .route("/api/v1/search", web::get().to(api::search_messages))
            .route("/api/v1/search", web::delete().to(api::delete_found_messages))
            .route("/api/v1/message/{id}", web::get().to(api::get_message))
            .route("/api/v1/message/{id}/raw", web::get().to(api::get_source))
            .route("/api/v1/message/{id}/headers", web::get().to(api::get_headers))
            .route("/view/{name}", web::get().to(page::view_body))
            .route("/api/v1/mailbox/{name}", web::get().to(inbucket::list_mailbox))
            .route(
                "/api/v1/mailbox/{name}",
                web::delete().to(inbucket::purge_mailbox),
            )
            .route(
                "/api/v1/mailbox/{name}/{id}",
                web::get().to(inbucket::get_message),
            );
    })
}
