//! The note that the project's version of PostgreSQL is not the one that runs.

use selvedge_config::MajorVersion;
use selvedge_postgres::cluster::npm_package_name;

/// What to say when PostgreSQL `running` is not that of the project. A project that names no version is told once, when its database
/// is made.
pub(crate) fn describe_version(expected: MajorVersion, running: u32, is_new: bool) -> Option<String> {
    let number = u32::from(expected.number);
    if number == running || !(expected.is_explicit || is_new) {
        return None;
    }
    let package = npm_package_name(number);
    let whose = if expected.is_explicit {
        format!("the project was made for PostgreSQL {number}")
    } else {
        format!("without [db] major_version a project means PostgreSQL {number}, as with the Supabase CLI")
    };
    let lacks = if running < 17 && number >= 17 {
        ", which lacks among others the privilege MAINTAIN, JSON_TABLE and MERGE … RETURNING"
    } else {
        ""
    };
    Some(format!(
        "{whose}, this is PostgreSQL {running}{lacks}; a database that is made anew uses {number} once it is installed with the \
         extensions that migrations need, by the system or by npm ({package})"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_028_a_project_without_a_version_means_that_of_the_cli_and_is_told_once_of_another() {
        let default = MajorVersion {
            number: 17,
            is_explicit: false,
        };
        let explicit = MajorVersion {
            is_explicit: true,
            ..default
        };

        let first = describe_version(default, 15, true).expect("a note");
        assert!(
            first.contains("means PostgreSQL 17") && first.contains("MAINTAIN"),
            "{first}"
        );
        assert_eq!(describe_version(default, 15, false), None);
        assert!(describe_version(explicit, 15, false).is_some());
        let newer = describe_version(explicit, 18, true).expect("a note");
        assert!(!newer.contains("MAINTAIN"), "{newer}");
        assert_eq!(describe_version(explicit, 17, true), None);
    }
}
