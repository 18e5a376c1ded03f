//! Objects: one file per operation, named as the contract names it.

pub(crate) mod commit;
mod copy_object;
mod delete_many;
mod delete_one;
pub(crate) mod find;
mod get_object;
mod info;
pub(crate) mod intake;
mod list;
mod list_v2;
mod move_object;
pub(crate) mod probe;
mod sign;
mod sign_many;
mod sign_upload;
mod upload;

pub(crate) use copy_object::copy_object;
pub(crate) use delete_many::delete_many;
pub(crate) use delete_one::delete_one;
pub(crate) use get_object::{
    check_address, find_public, get_authenticated, get_object, get_public, get_signed,
};
pub(crate) use info::{info, info_authenticated, info_public};
pub(crate) use list::list;
pub(crate) use list_v2::list_v2;
pub(crate) use move_object::move_object;
pub(crate) use sign::sign;
pub(crate) use sign_many::sign_many;
pub(crate) use sign_upload::sign_upload;
pub(crate) use upload::{update, upload, upload_signed};
