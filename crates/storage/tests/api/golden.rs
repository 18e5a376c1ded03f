//! The golden corpus: requests with the responses of the original server, replayed against this service.
//!
//! The scenarios and their runner are in `e2e/golden/storage` (see the README there). The list below names the
//! scenarios that must pass. Missing from it are:
//! - `s3-*`: tests/api/s3_*.rs cover the S3 protocol with the AWS SDK;
//! - `listv2-delimiter`: in one step (descending by name) the original omits the folder `Docs/` next to `docs/`; we list
//!   both;
//! - `tus-create-errors`: the original takes an upload that names no type for one of any type on a bucket's list; we check it as the
//!   type that it is stored with. Its other steps are in tests/api/resumable*.rs;
//! - `move-buckets`, `copy-buckets`: the original does not apply the limits of the destination bucket; we do.

use std::path::Path;
use std::process::Command;

use selvedge_storage::StorageConfig;
use selvedge_token::development;

use crate::support::{JWT_SECRET, TestApp};

/// Scenarios that pass. `SELVEDGE_GOLDEN_ONLY` replaces the list (`*` is all).
const PASSING: &[&str] = &[
    "auth-operations",
    "auth-role-routes",
    "bucket-create",
    "bucket-delete",
    "bucket-mime-limits",
    "bucket-names",
    "bucket-policies",
    "bucket-size-limits",
    "bucket-visibility",
    "copy-basics",
    "delete-many",
    "delete-one",
    "download-conditional",
    "download-disposition",
    "download-html",
    "download-info",
    "download-range",
    "download-routes",
    "journey-avatar",
    "journey-dropbox",
    "journey-team",
    "list-basics",
    "list-case",
    "list-rights",
    "list-search",
    "listv2-cursor",
    "matrix-anon",
    "matrix-dropbox",
    "matrix-locked",
    "matrix-nodelete",
    "matrix-private",
    "matrix-public",
    "misc-bodies",
    "misc-cors",
    "misc-routes",
    "misc-transformations",
    "move-basics",
    "rows-sql",
    "sign-basics",
    "sign-batch",
    "sign-life",
    "signup-basics",
    "signup-tokens",
    "tus-basics",
    "tus-large",
    "tus-patch-errors",
    "tus-signed",
    "tus-upsert",
    "upload-bad-requests",
    "upload-chunked",
    "upload-form",
    "upload-form-order",
    "upload-keys-good",
    "upload-keys-slashes",
    "upload-mime-limit",
    "upload-owner",
    "upload-placeholder",
    "upload-raw",
    "upload-robots",
    "upload-upsert",
    "upload-user-metadata",
];

/// Folders with policies for the scenarios.
const SETUPS: [&str; 2] = ["storage", "storage-new"];

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn golden_scenarios_get_the_recorded_responses() {
    play("storage", "storage_golden.py", &PASSING.join(",")).await;
}

/// Scenarios of the service's newer versions.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn golden_scenarios_of_newer_versions_get_the_expected_responses() {
    play("storage-new", "storage_new_golden.py", "*").await;
}

/// Runs the scenarios of a folder of `e2e/golden` whose names match.
async fn play(folder: &str, program: &str, names: &str) {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/golden");
    let corpus = recorded.join(folder);
    let app = TestApp::start_with(|config| StorageConfig {
        image_transformation: true,
        ..config
    })
    .await;
    for folder in SETUPS {
        let setup = std::fs::read_to_string(recorded.join(folder).join("setup.sql"));
        app.sql(&setup.expect("the corpus is in the repository")).await;
    }
    let only = std::env::var("SELVEDGE_GOLDEN_ONLY").unwrap_or_else(|_| names.to_owned());

    let mut runner = Command::new("python3");
    runner
        // Python would write its cache into the source tree.
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(corpus.join(program))
        .arg("run")
        .arg(&corpus)
        .args(["--base-url", &app.url(""), "--jwt-secret", JWT_SECRET])
        .args(["--apikey", &development::anon_key(), "--only", &only]);
    let output = tokio::task::spawn_blocking(move || runner.output())
        .await
        .expect("the thread lives");

    let output = output.expect("python3 is installed");
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{report}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
