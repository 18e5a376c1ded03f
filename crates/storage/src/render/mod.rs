//! Images in other sizes and formats: `GET /render/image/{public|authenticated|sign}/{bucket}/{key}`.
//!
//! [`render_image`] finds the object as downloads do. What is done to it comes from the query, on signed routes from
//! the token alone ([`transform`]). The [`renderer`] returns a cached image ([`cache`]) or makes it on a thread pool,
//! in bounded memory and time ([`transform_image`], [`geometry`], [`animation`], [`encode`]).

mod animation;
mod cache;
mod encode;
mod geometry;
mod output;
mod png_chunks;
mod rate_limit;
mod render_image;
mod rendered_image;
mod renderer;
mod source;
mod transform;
mod transform_image;
mod waiting;

pub(crate) use render_image::{render_authenticated, render_for_server, render_public, render_signed};
pub(crate) use renderer::Renderer;
pub(crate) use transform::Transform;
