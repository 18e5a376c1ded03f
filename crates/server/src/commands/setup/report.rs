//! How a warning is printed while a machine is set up.

use crate::output::WARN;

/// Prints a warning, whose further lines are below its first one.
pub(super) fn warn(text: &str) {
    let text = text.replace('\n', "\n               ");
    anstream::println!("  {WARN}warning{WARN:#}        {text}");
}
