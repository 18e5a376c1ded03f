//! Tests of the Auth contract over HTTP against a real PostgreSQL. One module per topic; test names begin with checklist ids.
#![expect(
    clippy::unwrap_used,
    reason = "a failed unwrap ends the test and names the line"
)]

mod access_table;
mod account_administration;
mod account_checks;
mod account_choices;
mod account_devices;
mod account_flows;
mod account_projects;
mod account_sequences;
mod account_steps;
mod address_proofs;
mod admin;
mod administrators_links;
mod app;
mod audit;
mod claimed_addresses;
mod custom_providers;
mod database;
mod dump;
mod email_change;
mod errors;
mod forgotten_credentials;
mod guarded_changes;
mod guesses;
mod guessing_networks;
mod hooks;
mod http_receiver;
mod id_tokens;
mod identities;
mod identity_provider;
mod mail;
mod mfa;
mod named_providers;
mod oauth_clients;
mod oauth_server;
mod passkeys;
mod password;
mod phone;
mod pkce;
mod policies;
mod protection;
mod providers;
mod races;
mod recorded_details;
mod recovery_code_guesses;
mod recovery_codes;
mod refresh;
mod response_shapes;
mod saml;
mod saml_provider;
mod scim;
mod sessions;
mod sign_in_table;
mod signup;
mod sso;
mod token_types;
mod update_user;
mod user_access;
mod user_list;
mod verify;
mod web3;
