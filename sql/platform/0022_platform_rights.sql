-- Roles, memberships and grants as Supabase's image has them after its later migrations (gateway.md §9.1 to §9.3).
-- `crates/postgres/tests/platform/rights.rs` compares the result with the image's and has the reason of each difference.

do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'supabase_etl_admin') then
    create role supabase_etl_admin login replication;
  end if;
end
$$;

-- Auth creates no roles.
alter role supabase_auth_admin nocreaterole;

-- Storage becomes whatever role a token names: those that a project grants to authenticator, too.
grant authenticator to supabase_storage_admin;
revoke anon, authenticated, service_role from supabase_storage_admin;
grant pg_read_all_data to supabase_etl_admin;
grant pg_monitor to supabase_etl_admin, supabase_read_only_user;
do $$
begin
  if current_setting('server_version_num')::int >= 160000 then
    execute 'grant pg_monitor, pg_read_all_data, pg_signal_backend to postgres with admin option';
    execute 'grant pg_create_subscription to postgres';
  end if;
end
$$;

-- Statements of the services may contain secrets.
alter role supabase_admin set log_statement = 'none';
alter role supabase_auth_admin set log_statement = 'none';
alter role supabase_storage_admin set log_statement = 'none';

-- Further settings that `postgres` may change at Supabase, for a session, a role or the database.
grant set on parameter
  auto_explain.log_analyze, auto_explain.log_buffers, auto_explain.log_format, auto_explain.log_level,
  auto_explain.log_min_duration, auto_explain.log_nested_statements, auto_explain.log_parameter_max_length,
  auto_explain.log_settings, auto_explain.log_timing, auto_explain.log_triggers, auto_explain.log_verbose,
  auto_explain.log_wal, auto_explain.sample_rate, log_replication_commands, pg_net.batch_size, pg_net.ttl,
  pg_stat_statements.save, pg_stat_statements.track, pg_stat_statements.track_planning,
  pg_stat_statements.track_utility, pgaudit.log, pgaudit.log_catalog, pgaudit.log_client, pgaudit.log_level,
  pgaudit.log_relation, pgaudit.log_rows, pgaudit.log_statement, pgaudit.log_statement_once, pgaudit.role,
  plan_filter.limit_select_only, plan_filter.module_loaded, plan_filter.statement_cost_limit, safeupdate.enabled
  to postgres;

-- Extensions ---------------------------------------------------------------------------------------------------------

-- `postgres` owns the platform's extensions, as it owns those that it creates, so that it may drop, comment on and update
-- them. No statement changes the owner of an extension. The dependency keeps the role from being dropped.
create function _selvedge.give_extensions_to_postgres() returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  given record;
begin
  for given in
    update pg_extension set extowner = 'postgres'::regrole
    where _selvedge.is_allowed_extension(extname::text) and extowner <> 'postgres'::regrole
      -- On a server whose first superuser is `postgres` there is nothing to give.
      and not (select rolsuper from pg_roles where rolname = 'postgres')
    returning oid
  loop
    delete from pg_shdepend
    where dbid = (select oid from pg_database where datname = current_database())
      and classid = 'pg_extension'::regclass and objid = given.oid and deptype = 'o';
    insert into pg_shdepend (dbid, classid, objid, objsubid, refclassid, refobjid, deptype)
    select oid, 'pg_extension'::regclass, given.oid, 0, 'pg_authid'::regclass, 'postgres'::regrole, 'o'
    from pg_database where datname = current_database();
  end loop;
end
$$;
revoke all on function _selvedge.give_extensions_to_postgres() from public;
select _selvedge.give_extensions_to_postgres();

-- What an extension has revoked from everybody (pg_stat_statements_reset()) stays closed to the API roles; the rest they
-- may call as everybody. `postgres` may pass on what it may do itself.
revoke all on all routines in schema extensions from anon, authenticated, service_role;
grant all on all tables in schema extensions to postgres with grant option;
grant all on all routines in schema extensions to postgres with grant option;
grant all on all tables in schema extensions to dashboard_user;
alter default privileges for role supabase_admin in schema extensions
  grant all on tables to postgres with grant option;
alter default privileges for role supabase_admin in schema extensions
  grant all on routines to postgres with grant option;
alter default privileges for role supabase_admin in schema extensions
  grant all on sequences to postgres with grant option;

-- Foreign data wrappers belong to a superuser, and `postgres` makes servers of them. An extension that a function of the
-- platform has created for `postgres` is given to it.
create function _selvedge.open_new_extension() returns event_trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  wrapper name;
begin
  for wrapper in
    select w.fdwname
    from pg_event_trigger_ddl_commands() as command
    join pg_depend as d
      on d.refclassid = 'pg_extension'::regclass and d.refobjid = command.objid and d.deptype = 'e'
      and d.classid = 'pg_foreign_data_wrapper'::regclass
    join pg_foreign_data_wrapper as w on w.oid = d.objid
    where command.classid = 'pg_extension'::regclass
  loop
    execute format('grant usage on foreign data wrapper %I to postgres with grant option', wrapper);
  end loop;
  if session_user = 'postgres' then
    perform _selvedge.give_extensions_to_postgres();
  end if;
end
$$;
revoke all on function _selvedge.open_new_extension() from public;
create event trigger selvedge_open_new_extension on ddl_command_end when tag in ('CREATE EXTENSION')
  execute function _selvedge.open_new_extension();

-- Schemas ------------------------------------------------------------------------------------------------------------

-- Whoever owns the schema created it before the image's grants; these are added.
grant usage on schema graphql, graphql_public to postgres with grant option;
grant usage on schema realtime to dashboard_user;

alter default privileges for role supabase_admin in schema graphql
  grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_admin in schema graphql
  grant all on routines to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_admin in schema graphql
  grant all on sequences to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_admin in schema graphql_public
  grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_admin in schema graphql_public
  grant all on routines to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_admin in schema graphql_public
  grant all on sequences to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_admin in schema realtime
  grant all on tables to postgres, dashboard_user;
alter default privileges for role supabase_admin in schema realtime
  grant all on routines to postgres, dashboard_user;
alter default privileges for role supabase_admin in schema realtime
  grant all on sequences to postgres, dashboard_user;

-- Database webhooks (GW-024): seeds set `supabase_functions.hooks_id_seq`, and projects look at `hooks`.
grant supabase_functions_admin to postgres;
grant all on all tables in schema supabase_functions to postgres, anon, authenticated, service_role;
grant all on all sequences in schema supabase_functions to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_admin in schema supabase_functions
  grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_admin in schema supabase_functions
  grant all on routines to postgres, anon, authenticated, service_role;
alter default privileges for role supabase_admin in schema supabase_functions
  grant all on sequences to postgres, anon, authenticated, service_role;
insert into supabase_functions.migrations (version) values ('initial'), ('20210809183423_update_grants')
  on conflict do nothing;
