-- The roles every Supabase project assumes (gateway.md §9.1).
--
-- Roles belong to the whole cluster, so each one is created only when it is missing: a second database of the same
-- cluster, or an external PostgreSQL that has some of them already, keeps what it has. Passwords are no part of this
-- file; they are set from the server's secrets.

do $$
declare
  wanted record;
begin
  for wanted in
    select * from (values
      ('supabase_admin',             'superuser login createdb createrole replication bypassrls'),
      ('postgres',                   'login createdb createrole replication bypassrls'),
      ('anon',                       'nologin'),
      ('authenticated',              'nologin'),
      ('service_role',               'nologin bypassrls'),
      ('authenticator',              'login noinherit'),
      ('supabase_auth_admin',        'login noinherit createrole'),
      ('supabase_storage_admin',     'login noinherit createrole'),
      ('supabase_realtime_admin',    'nologin noinherit'),
      ('supabase_functions_admin',   'login noinherit createrole'),
      ('supabase_replication_admin', 'login replication'),
      ('supabase_read_only_user',    'login bypassrls'),
      ('dashboard_user',             'nologin createdb createrole replication'),
      ('pgbouncer',                  'login')
    ) as roles (name, attributes)
  loop
    if not exists (select from pg_catalog.pg_roles where rolname = wanted.name) then
      execute pg_catalog.format('create role %I %s', wanted.name, wanted.attributes);
    end if;
  end loop;
end
$$;

-- The roles that the API's login may switch to.
grant anon, authenticated, service_role to authenticator;
grant anon, authenticated, service_role to supabase_storage_admin;
grant anon, authenticated, service_role to postgres;

-- Memberships of `postgres` for migrations and monitoring. It is deliberately no superuser.
grant pg_monitor, pg_read_all_data, pg_signal_backend to postgres;
grant pg_read_all_data to supabase_read_only_user;

-- Policies on storage.objects and realtime.messages, policies and `drop trigger` on auth.users need the rights of the
-- tables' owners. Supabase's image hands them out by an extension (supautils); membership does it in stock PostgreSQL,
-- as that image itself did before 2025.
grant supabase_auth_admin, supabase_storage_admin, supabase_realtime_admin to postgres;

-- From PostgreSQL 16 on, CREATEROLE alone no longer lets `postgres` grant these roles to roles of its own, nor change
-- their settings (`alter role authenticator set pgrst.db_pre_request = …`, `alter role anon set statement_timeout =
-- …`).
do $$
begin
  if current_setting('server_version_num')::int >= 160000 then
    execute 'grant anon, authenticated, service_role to postgres with admin option';
    execute 'grant authenticator to postgres with admin true, inherit false, set false';
  end if;
end
$$;

-- Settings that `postgres` may change at Supabase, although stock PostgreSQL allows them to superusers only. Data dumps
-- begin with `set session_replication_role = replica`.
grant set on parameter
  session_replication_role, log_lock_waits, log_min_duration_statement, log_min_messages, log_parameter_max_length,
  log_statement, log_temp_files, track_functions, track_io_timing, wal_compression
  to postgres;
grant execute on function pg_catalog.pg_reload_conf() to postgres;

-- Settings of the API that projects change by `alter role authenticator set pgrst.…`.
grant set on parameter
  pgrst.db_aggregates_enabled, pgrst.db_anon_role, pgrst.db_extra_search_path, pgrst.db_hoisted_tx_settings,
  pgrst.db_max_rows, pgrst.db_plan_enabled, pgrst.db_pre_request, pgrst.db_prepared_statements, pgrst.db_root_spec,
  pgrst.db_schemas, pgrst.db_tx_end, pgrst.jwt_aud, pgrst.jwt_cache_max_lifetime, pgrst.jwt_role_claim_key,
  pgrst.jwt_secret, pgrst.jwt_secret_is_base64, pgrst.log_level, pgrst.openapi_mode, pgrst.openapi_security_active,
  pgrst.openapi_server_proxy_uri, pgrst.server_cors_allowed_origins, pgrst.server_timing_enabled,
  pgrst.server_trace_header
  to postgres;

-- Settings apply when a role logs in. The API applies those of the role it becomes by itself.
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';
alter role supabase_auth_admin set search_path = 'auth';
alter role supabase_auth_admin set idle_in_transaction_session_timeout = '60s';
alter role supabase_storage_admin set search_path = 'storage';
alter role supabase_functions_admin set search_path = 'supabase_functions';
alter role supabase_read_only_user set default_transaction_read_only = on;
alter role postgres set search_path = "$user", public, extensions;
alter role supabase_admin set search_path = "$user", public, auth, extensions;
