//! Compares with the recordings in `e2e/golden/types` byte by byte: the types that postgres-meta generates for these
//! schemas.

use std::path::PathBuf;

use selvedge_testing::TestDatabase;
use selvedge_typegen::{Language, SwiftAccess, TypeOptions, generate_types};

/// Folder, recorded TypeScript file, and the requested schemas. Recordings in other languages have the same name with their own
/// extension.
const RECORDINGS: [(&str, &str, &str); 9] = [
    ("columns", "types.ts", "public"),
    ("relations", "types.ts", "public"),
    ("functions", "types.ts", "public"),
    ("views", "types.ts", "public"),
    ("schemas", "types.ts", "public,catalog,billing,empty,Odd Schema"),
    ("schemas", "types.public.ts", "public"),
    ("schemas", "types.catalog,billing.ts", "catalog,billing"),
    ("rest", "types.ts", "public,api,hidden"),
    ("rest", "types.public.ts", "public"),
];

/// The languages by the extensions of recorded files.
const LANGUAGES: [(&str, Language); 4] = [
    (".ts", Language::TypeScript),
    (".go", Language::Go),
    (".py", Language::Python),
    (".swift", Language::Swift(SwiftAccess::Internal)),
];

fn corpus(folder: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../e2e/golden/types")
        .join(folder)
}

/// Loads a recording's schema into a database without the platform schema, as the recordings were made.
async fn load_schema(database: &TestDatabase, folder: &str) -> tokio_postgres::Client {
    let client = database.superuser().await;
    let name = format!("{}_{folder}", database.name());
    client
        .batch_execute(&format!("create database \"{name}\" template template0"))
        .await
        .expect("the database is created");
    let mut config = database.config("supabase_admin");
    config.dbname(&name).options("-c search_path=\"$user\",public");
    let (client, connection) = config
        .connect(tokio_postgres::NoTls)
        .await
        .expect("the database accepts connections");
    tokio::spawn(connection);
    let sql = std::fs::read_to_string(corpus(folder).join("schema.sql")).expect("the corpus is complete");
    client.batch_execute(&sql).await.expect("the schema loads");
    client
}

/// Describes the first line in which the texts differ, with the lines around it.
fn describe_difference(recorded: &str, generated: &str) -> String {
    let recorded: Vec<&str> = recorded.lines().collect();
    let generated: Vec<&str> = generated.lines().collect();
    let number = recorded
        .iter()
        .zip(&generated)
        .position(|(left, right)| left != right)
        .unwrap_or(recorded.len().min(generated.len()));
    let context = |lines: &[&str]| {
        let lines = lines.iter().skip(number.saturating_sub(6)).take(12);
        lines.map(|line| format!("    {line}\n")).collect::<String>()
    };
    format!(
        "line {}: recorded\n{}generated\n{}",
        number + 1,
        context(&recorded),
        context(&generated)
    )
}

async fn expect_recorded_types(folder: &str) {
    let database = TestDatabase::create().await;
    let client = load_schema(&database, folder).await;
    for (_, file, schemas) in RECORDINGS.iter().filter(|one| one.0 == folder) {
        let options = TypeOptions {
            schemas: schemas.split(',').map(str::to_owned).collect(),
            detects_one_to_one: true,
        };
        for (extension, language) in LANGUAGES {
            let file = file.replace(".ts", extension);
            // The other languages are recorded once per folder, and not for `rest`.
            let is_recorded = extension == ".ts" || (folder != "rest" && file == format!("types{extension}"));
            if !is_recorded {
                continue;
            }
            let recorded =
                std::fs::read_to_string(corpus(folder).join(&file)).expect("the corpus is complete");

            let generated = generate_types(&client, &options, language)
                .await
                .expect("the catalog is read");

            // postgres-meta's command prints the text with a line break at its end.
            let printed = format!("{generated}\n");
            let difference = describe_difference(&recorded, &printed);
            assert!(recorded == printed, "{folder}/{file}, {difference}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn gw_032_types_of_columns_are_those_recorded() {
    expect_recorded_types("columns").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gw_032_types_of_relationships_are_those_recorded() {
    expect_recorded_types("relations").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gw_032_types_of_functions_are_those_recorded() {
    expect_recorded_types("functions").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gw_032_types_of_views_are_those_recorded() {
    expect_recorded_types("views").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gw_032_types_of_several_schemas_are_those_recorded() {
    expect_recorded_types("schemas").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gw_032_types_of_the_corpus_of_requests_are_those_recorded() {
    expect_recorded_types("rest").await;
}
