-- Settings of config.toml as they were applied to the database. A setting is applied again when it has changed, and not at
-- every start: what migrations have decided since stays.
create table if not exists _selvedge.project_settings (
  name pg_catalog.text primary key,
  value pg_catalog.text not null
);
