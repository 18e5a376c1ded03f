//! The folder of stored objects: of which databases they are.

use super::finding::Finding;
use crate::config::Config;
use crate::database::objects_owner::list_possible_owners;
use crate::services::objects_folder;

/// Names the databases whose objects are in the project's folder, where they are more than one: nothing is removed there then.
pub(super) fn examine_objects_folder(config: &Config) -> Finding {
    if config.selvedge.s3.is_some() {
        return Finding::ok("files", "objects are in a bucket");
    }
    let folder = objects_folder(config);
    match list_possible_owners(config, &folder) {
        Ok(owners) if owners.len() > 1 => Finding::warning(
            "files",
            format!(
                "{} holds objects of {}, so no file is removed there, and a restore is refused",
                folder.display(),
                owners.join(" and ")
            ),
            "give `serve` a SELVEDGE_DATA_DIR of its own, or say whose they all are by `selvedge sweep --yes=…` (docs/operations.md, \"One \
             folder, two databases\")",
        ),
        Ok(_) => Finding::ok("files", "the stored objects are of one database"),
        Err(error) => Finding::warning(
            "files",
            format!("{error:#}"),
            "make the project's data folder readable for this user",
        ),
    }
}
