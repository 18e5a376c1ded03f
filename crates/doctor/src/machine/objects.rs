//! To which databases the stored objects belong: nothing is removed while there are several.

use std::time::Duration;

use selvedge_config::Config;
use selvedge_database::objects_owner::{list_possible_owners, objects_folder};
use selvedge_database::objects_store::open_blob_store;

use crate::finding::Finding;

/// Longer than a slow store needs to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Names the databases whose objects are in the project's folder or bucket, where they are more than one: nothing is removed there then.
pub(crate) async fn examine_objects(config: &Config) -> Finding {
    match config.selvedge.s3 {
        Some(_) => examine_bucket(config).await,
        None => examine_folder(config),
    }
}

async fn examine_bucket(config: &Config) -> Finding {
    let config = config.clone();
    // Requests to a store stay on one thread.
    let listing = tokio::task::spawn_blocking(move || {
        let store = open_blob_store(&config).map_err(|error| error.to_string())?;
        let marks = tokio::runtime::Handle::current().block_on(async {
            // An empty name is no database's, so that the marks of all are listed.
            tokio::time::timeout(ANSWER_TIMEOUT, store.list_other_owners("")).await
        });
        let marks = marks.map_err(|_elapsed| format!("no answer within {} s", ANSWER_TIMEOUT.as_secs()))?;
        marks.map_err(|error| error.to_string())
    });
    match listing
        .await
        .map_err(|error| error.to_string())
        .and_then(|marks| marks)
    {
        Ok(marks) if marks.len() > 1 => Finding::warning(
            "files",
            format!(
                "the bucket has marks of {} databases, so no bytes are removed from it: {}",
                marks.len(),
                marks.join(", ")
            ),
            "one that was not renewed for hours is of a database that is no longer in use: say whose all objects are by `selvedge storage adopt` \
             (docs/operations.md, \"One bucket, two databases\"), or give each project a prefix",
        ),
        Ok(_) => Finding::ok("files", "the objects in the bucket are of one database"),
        Err(error) => Finding::warning(
            "files",
            format!(
                "the marks of databases in the bucket cannot be listed, so no bytes are removed from it: {error}"
            ),
            "give the credentials the rights to list the bucket, and to read, write and delete below the prefix (docs/configuration.md, \
             `[selvedge.s3]`)",
        ),
    }
}

fn examine_folder(config: &Config) -> Finding {
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
