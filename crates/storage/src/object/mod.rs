//! Objects: one file per operation, named as the contract names it, and the steps that several of them share
//! ([`authorize_write`], [`receive`], [`commit`], [`lookup`]).

pub(crate) mod authorize_write;
pub(crate) mod commit;
mod copy_object;
mod delete_object;
mod delete_objects;
mod get_info;
mod get_object;
mod list_objects;
mod list_objects_v2;
pub(crate) mod lookup;
mod move_object;
pub(crate) mod pending_blob;
pub(crate) mod receive;
pub(crate) mod relocation;
mod sign_object;
mod sign_objects;
mod sign_upload;
mod upload_headers;
mod upload_object;

pub(crate) use copy_object::copy_object;
pub(crate) use delete_object::delete_object;
pub(crate) use delete_objects::delete_objects;
pub(crate) use get_info::{get_info, get_info_authenticated, get_info_public};
pub(crate) use get_object::{get_authenticated, get_object, get_public, get_signed};
pub(crate) use list_objects::list_objects;
pub(crate) use list_objects_v2::list_objects_v2;
pub(crate) use move_object::move_object;
pub(crate) use sign_object::{build_signed_url, sign_object};
pub(crate) use sign_objects::sign_objects;
pub(crate) use sign_upload::sign_upload;
pub(crate) use upload_object::{update_object, upload_object, upload_signed};
