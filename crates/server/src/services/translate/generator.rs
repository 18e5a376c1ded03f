//! Configuration: `[selvedge.generator]` → the generator's struct.

use selvedge_config::{Config, GeneratorSection, Mode};
use selvedge_generator::{EndpointConfig, GeneratorConfig};

use super::functions::function_url;

/// The generator's settings. In development its endpoint runs on the same machine and is called there, and calls back
/// there.
pub(in crate::services) fn generator_config(
    config: &Config,
    section: &GeneratorSection,
    mode: Mode,
) -> GeneratorConfig {
    let is_development = mode == Mode::Development;
    GeneratorConfig {
        table: section.table.clone(),
        endpoint: section.url.clone().map(|url| EndpointConfig {
            url,
            keys: section.keys.clone(),
            calls_private: section.private_addresses.unwrap_or(is_development),
        }),
        public_url: function_url(config, mode),
        parallel: section.parallel,
        attempt_timeout: section.attempt_timeout,
        result_timeout: section.result_timeout,
        retry_pause: section.retry_pause,
        max_picture_bytes: section.picture_size,
    }
}
