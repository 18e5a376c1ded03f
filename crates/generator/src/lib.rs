//! Generated pictures: jobs in a table of the project, and the workers that carry them out.
//!
//! In: rows of the table that `[selvedge.generator] table` names (its columns are listed in docs/generator.md), and
//! pictures that a generator sends to `/generator/v1`. Out: a picture in the project's storage and the job's row with
//! its result, or an error that people can read. A generator is an HTTP endpoint of the project ([`endpoint`]); without
//! one, the built-in generator composes a preview of the pictures that the job names ([`preview`]).
//!
//! Every node claims jobs with `for update skip locked` under a lease ([`queue`]), so that a job is taken over when its
//! node dies. Left to others: where objects are stored ([`PictureStore`], given by the server), who may ask for a
//! picture and who sees it (policies of the project).

mod callback;
mod config;
mod endpoint;
mod error;
mod metrics;
mod preview;
mod queue;
mod state;
mod store;
mod worker;

pub use callback::configure;
pub use config::{EndpointConfig, GeneratorConfig};
pub use state::Generator;
pub use store::{PictureStore, StoreError};
pub use worker::run_generator_forever;
