//! Settings of a laptop that a server still has.

use selvedge_config::Config;
use selvedge_database::home::is_home;

use super::laptop_values::{LaptopValue, list_laptop_values};
use crate::finding::Finding;

/// Lists settings of a server that have the values of a development machine. `None` on such a machine, where they are right.
pub(crate) fn examine_laptop_values(config: &Config) -> Option<Finding> {
    if config.selvedge.database_url.is_none() && !is_home(config) {
        return None;
    }
    let sends_mail = config.auth.email.smtp.is_some();
    let found = list_laptop_values(config, config.api.external_url.as_deref(), sends_mail);
    if found.is_empty() {
        return Some(Finding::ok("defaults", "no setting has the value of a laptop"));
    }
    let describe = |found: &LaptopValue| format!("{} is {}", found.key, found.value);
    let message: Vec<String> = found.iter().map(describe).collect();
    let better = found
        .iter()
        .filter_map(|found| Some(format!("{}={}", found.variable(), found.better.as_ref()?)));
    let better: Vec<String> = better.collect();
    Some(Finding::warning(
        "defaults",
        message.join(", "),
        match better.is_empty() {
            true => "set auth.site_url to the address of your application".to_owned(),
            false => format!("for a server:  {}", better.join(" ")),
        },
    ))
}
