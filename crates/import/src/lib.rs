//! `selvedge import`: copies a Supabase project from a hosted or self-hosted server, or from another Selvedge.
//!
//! The database is read under one snapshot and written in one transaction, so an interrupted import changes nothing. The session that
//! writes is no superuser's ([`Writer`]). The storage objects follow one by one: after an interruption, the next import copies those
//! that are missing.
//!
//! In: the configuration of the project, and where the source is. Out: the project's database with the source's rows, roles and
//! secrets, its objects, and a report of what was left out.

mod catalog;
mod jobs;
mod objects;
mod options;
mod report;
mod rows;
mod schema;
mod settings;
mod source;
mod target;

use anyhow::{Context, Result, bail};
use selvedge_config::{Config, Environment};
use selvedge_database::objects_owner::objects_folder;
use selvedge_database::objects_store::open_blob_store;
use selvedge_postgres::migrate::set_auto_expose_new_tables;
use selvedge_terminal::print_note;

use objects::copy_objects;
use objects::object_api::ObjectApi;
pub use options::ImportOptions;
use report::Report;
use schema::extensions::plan_extensions;
use schema::{SchemaDump, owners, platform, rights, roles};
use settings::SourceSettings;
use source::Source;
use target::{Target, Writer};

/// Runs `selvedge import`.
///
/// # Errors
/// When source or target cannot be reached, the target is not empty, or PostgreSQL refuses a statement. The target's
/// database is unchanged then; copied objects are kept for the next import.
pub async fn import_project(config: &Config, options: &ImportOptions) -> Result<()> {
    let settings = SourceSettings::read(options, &Environment::of_process())?;
    if let Some(api) = &settings.api {
        ObjectApi::new(api).check().await?;
    }
    let source = Source::open(&settings.login).await?;
    let target = Target::open(config, options).await?;
    let outcome = import(config, options, &settings, source, &target).await;
    // Stop a PostgreSQL that was started for the import, even after an error.
    target.close().await?;
    outcome?.print(&config.project.id);
    Ok(())
}

async fn import(
    config: &Config,
    options: &ImportOptions,
    settings: &SourceSettings,
    source: Source,
    target: &Target,
) -> Result<Report> {
    let mut report = Report::default();
    if source.identity == target.identity().await? {
        bail!("source and target are the same database");
    }
    source.check_history().await?;
    let unfinished = target.find_unfinished().await?;
    if unfinished.as_ref() == Some(&source.identity) {
        print_note(
            "the database is here already, by an import that was cut off; it goes on with the objects",
        );
    } else {
        let content = target.describe_content().await?;
        if let Some(content) = &content {
            agree_to_replace(config, options, content)?;
        }
        let writer = target.open_writer().await?;
        // After an error the session ends, and PostgreSQL rolls back.
        import_database(config, &source, target, &writer, &mut report).await?;
    }
    // Objects created by the project get them by default privileges, which do not apply to an import.
    platform::grant_console_rights(&target.superuser, &source.schemas).await?;
    // Ends the source's transaction: while it is open, VACUUM at the source cannot remove dead rows.
    drop(source);
    import_objects(config, settings, target, &mut report).await?;
    let not_copied = report.objects.not_copied.len();
    if not_copied > 0 && !options.skip_objects {
        report.print(&config.project.id);
        bail!(
            "{not_copied} objects were not copied\n  try them again:       selvedge import (with the same source)\n  or leave them \
             out:   selvedge import --skip-objects"
        );
    }
    target.write_migration_files(config).await?;
    target.record_end(config).await?;
    Ok(report)
}

/// Lets the import go on into a database that is not empty.
fn agree_to_replace(config: &Config, options: &ImportOptions, content: &str) -> Result<()> {
    if options.yes.is_none() {
        bail!(
            "{} is not empty ({content}): say with --yes that it is replaced",
            config.project.id
        );
    }
    // Of a database that this program does not run it was asked before anything was changed there.
    Ok(())
}

/// Imports everything but the storage objects, in one transaction.
async fn import_database(
    config: &Config,
    source: &Source,
    target: &Target,
    writer: &Writer,
    report: &mut Report,
) -> Result<()> {
    let client = &writer.client;
    let extensions = plan_extensions(source, client, report).await?;
    client.batch_execute("begin").await?;
    // From here on everything is one transaction: an import that is cut off leaves the target as it was.
    // A target that counts as empty is cleared, too: it may have event triggers, and functions in schemas of the platform.
    target.clear(writer).await?;
    // The target's history of migrations has no rows here, since the target is empty. The source's history replaces it.
    client
        .batch_execute("drop schema if exists supabase_migrations cascade")
        .await?;
    let owners = roles::copy_roles(source, writer, report).await?;
    // After the roles are created: the dump leaves out privileges of roles that the target does not have.
    let dump = SchemaDump::read(config, source, client, owners, report).await?;
    set_auto_expose_new_tables(client, false).await?;
    writer.become_creator().await?;
    schema::run(client, &dump.schemas).await?;
    // Extensions are created as `postgres`, because the owner of an extension cannot be changed later.
    writer.become_postgres().await?;
    schema::run(client, &extensions).await?;
    writer.become_creator().await?;
    let lent = owners::lend_create(client, &source.schemas, &dump.owners).await?;
    schema::run(client, &dump.before_rows).await?;
    rows::copy_all_rows(source, writer, report).await?;
    jobs::copy_jobs(source, writer, report).await?;
    writer.become_creator().await?;
    platform::copy_secrets(source, client, report).await?;
    // Indexes and foreign keys are created after the rows, so that each is built and checked once.
    schema::run(client, &dump.after_rows).await?;
    platform::copy_additions(source, client, report).await?;
    owners::take_back_create(source, client, &lent).await?;
    writer.end_creator().await?;
    rights::compare_rights(source, client).await?;
    target.record_begin(writer, &source.identity).await?;
    client.batch_execute("commit").await?;
    Ok(())
}

async fn import_objects(
    config: &Config,
    settings: &SourceSettings,
    target: &Target,
    report: &mut Report,
) -> Result<()> {
    let Some(api) = &settings.api else {
        report.leave_out("objects, as --no-objects says".to_owned());
        return Ok(());
    };
    let store = open_blob_store(config).context("cannot open the store of objects")?;
    if config.selvedge.s3.is_none() {
        let owner = target.objects_owner(config).await?;
        owner.join(config, &objects_folder(config))?;
    }
    let source = source::connect(&settings.login).await?;
    let api = ObjectApi::new(api);
    report.objects = copy_objects(&source, target, &api, store.as_ref()).await?;
    if config.selvedge.database_url.is_some() && config.selvedge.s3.is_none() {
        // The database may be on another machine, and the objects are on this one.
        print_note(&format!(
            "the objects are files in {}: `selvedge serve` has to find them in its data_dir",
            objects_folder(config).display()
        ));
    }
    Ok(())
}
