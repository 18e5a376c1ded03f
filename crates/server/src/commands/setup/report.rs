//! How a warning is printed while a machine is set up.

use selvedge_terminal::{WARN, show_foreign_text};

/// Prints a warning, whose further lines are below its first one. It may name files of the project.
pub(super) fn warn(text: &str) {
    anstream::println!("  {WARN}warning{WARN:#}        {}", render_warning(text));
}

fn render_warning(text: &str) -> String {
    show_foreign_text(text).replace('\n', "\n               ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_008_names_of_files_in_a_warning_are_no_commands_to_the_terminal() {
        let warning = render_warning("everybody may read a\u{1b}[2Jb\n  chmod o-rwx");

        assert_eq!(
            warning,
            "everybody may read a\\u{1b}[2Jb\n                 chmod o-rwx"
        );
    }
}
