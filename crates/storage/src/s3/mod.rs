//! The S3 protocol at `/s3`: the same buckets and objects for clients that speak S3.
//!
//! [`routes`] reads method, path and query into an operation ([`operation`]), verifies the signature ([`signature`])
//! and calls the file of the operation. Operations run under the role of the signer: the service with its own pair of
//! keys, a user with a session token. Policies decide as everywhere else. Errors are XML with their real status
//! ([`error`]).

mod body;
mod bucket_lifecycle;
mod bucket_versioning;
mod buckets;
mod chunks;
mod context;
mod copy_object;
mod delete_object;
mod delete_objects;
mod error;
mod get_object;
mod list_objects;
mod list_versions;
mod multipart;
mod object_headers;
mod operation;
mod pages;
mod part_layout;
mod post_object;
mod preconditions;
mod put_object;
mod routes;
mod signature;
mod store_object;
mod unsupported;
mod versions;
mod write_condition;
mod xml_reader;
mod xml_writer;

pub(crate) use routes::{refuse_body, serve_request};
#[cfg(fuzzing)]
pub(crate) use signature::fuzzing;
