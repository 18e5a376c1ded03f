-- The console: accounts, sessions and the audit, and the database logins of its levels.
--
-- A level is a login of its own, because a text of SQL can undo every setting of its session. The reader has no rights but
-- SELECT, and not pg_read_all_data, which would show it password hashes and tokens. The operator reads everything and writes
-- the project's rows, and owns nothing, so that PostgreSQL refuses it every change of the schema. It has not
-- pg_write_all_data: whoever may write to cron.job or _selvedge.shipped_extensions runs statements with other roles' rights.
-- The service reads accounts and sessions for the console itself.

do $$
declare
  wanted record;
begin
  for wanted in
    select * from (values
      ('selvedge_console_reader',   'login bypassrls'),
      ('selvedge_console_operator', 'login bypassrls'),
      ('selvedge_console_service',  'login')
    ) as roles (name, attributes)
  loop
    if not exists (select from pg_catalog.pg_roles where rolname = wanted.name) then
      execute pg_catalog.format('create role %I %s', wanted.name, wanted.attributes);
    end if;
  end loop;
end
$$;

grant pg_read_all_data, pg_monitor to selvedge_console_operator;

-- The project's schemas: those that are there, and by default privileges those that come.
do $$
declare
  project_schema name;
begin
  for project_schema in
    select nspname from pg_catalog.pg_namespace
    where nspname !~ '^pg_' and nspname not in (
      'information_schema', 'auth', 'cron', 'extensions', 'graphql', 'graphql_public', 'net', 'pgbouncer', 'pgmq', 'realtime',
      '_realtime', 'storage', 'supabase_functions', 'supabase_migrations', 'vault', '_selvedge')
  loop
    execute pg_catalog.format(
      'grant usage on schema %1$I to selvedge_console_reader, selvedge_console_operator;
       grant select on all tables in schema %1$I to selvedge_console_reader;
       grant select on all sequences in schema %1$I to selvedge_console_reader;
       grant select, insert, update, delete on all tables in schema %1$I to selvedge_console_operator;
       grant usage, select on all sequences in schema %1$I to selvedge_console_operator',
      project_schema);
  end loop;
end
$$;

alter default privileges for role postgres grant usage on schemas to selvedge_console_reader, selvedge_console_operator;
alter default privileges for role postgres grant select on tables to selvedge_console_reader;
alter default privileges for role postgres grant select on sequences to selvedge_console_reader;
alter default privileges for role postgres grant select, insert, update, delete on tables to selvedge_console_operator;
alter default privileges for role postgres grant usage, select on sequences to selvedge_console_operator;

-- What the reader sees of the platform is named column by column: what a later version adds is hidden until it is named
-- here, too. No column holds a password's hash, a token, a code or a secret.
grant usage on schema auth, storage, extensions to selvedge_console_reader;
grant select (
  id, instance_id, aud, role, email, email_confirmed_at, invited_at, confirmation_sent_at, recovery_sent_at,
  email_change_sent_at, last_sign_in_at, raw_app_meta_data, raw_user_meta_data, is_super_admin, created_at, updated_at, phone,
  phone_confirmed_at, phone_change_sent_at, confirmed_at, banned_until, reauthentication_sent_at, is_sso_user, deleted_at,
  is_anonymous) on auth.users to selvedge_console_reader;
grant select (id, user_id, provider_id, provider, identity_data, last_sign_in_at, created_at, updated_at, email)
  on auth.identities to selvedge_console_reader;
grant select (id, user_id, created_at, updated_at, factor_id, aal, not_after, refreshed_at, user_agent, ip, tag)
  on auth.sessions to selvedge_console_reader;
grant select (id, user_id, friendly_name, factor_type, status, created_at, updated_at, phone, last_challenged_at)
  on auth.mfa_factors to selvedge_console_reader;
grant select on auth.mfa_amr_claims, auth.sso_providers, auth.sso_domains, auth.audit_log_entries to selvedge_console_reader;
grant select on storage.buckets, storage.objects to selvedge_console_reader;

-- Users, factors and objects are rows that an admin may correct. Tokens in use stay with the service that made them.
grant usage on schema auth, storage, extensions to selvedge_console_operator;
grant select, insert, update, delete
  on auth.users, auth.identities, auth.mfa_factors, auth.sso_providers, auth.sso_domains, storage.buckets, storage.objects
  to selvedge_console_operator;
grant delete on auth.sessions, auth.refresh_tokens, auth.one_time_tokens to selvedge_console_operator;

-- Everything of the console belongs to a superuser, in which neither `postgres` nor a level is a member.
create schema selvedge_console authorization supabase_admin;
grant usage on schema selvedge_console to selvedge_console_service, selvedge_console_operator, postgres;

create table selvedge_console.accounts (
  name text primary key check (name ~ '^[^[:cntrl:]]{1,120}$'),
  level text not null check (level in ('viewer', 'editor', 'admin')),
  password_hash text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Neither secret of a session is stored, but their digests: whoever reads the table cannot take a session over.
create table selvedge_console.sessions (
  cookie_digest bytea primary key check (octet_length(cookie_digest) = 32),
  header_digest bytea not null check (octet_length(header_digest) = 32),
  account text not null references selvedge_console.accounts on update cascade on delete cascade,
  address text not null,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sessions_account_idx on selvedge_console.sessions (account);

create table selvedge_console.audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  account text,
  level text not null,
  address text not null,
  action text not null,
  target text not null,
  statement text,
  rows bigint,
  result text not null,
  request_id text not null
);

alter table selvedge_console.accounts owner to supabase_admin;
alter table selvedge_console.sessions owner to supabase_admin;
alter table selvedge_console.audit owner to supabase_admin;

grant select, insert, update, delete on selvedge_console.accounts, selvedge_console.sessions
  to selvedge_console_service, postgres;
grant select on selvedge_console.audit to selvedge_console_service, selvedge_console_operator, postgres;

-- The only way to write the audit. It runs in the transaction of the change that it tells of, under the login of a level.
create function selvedge_console.write_audit(
  account text, level text, address text, action text, target text, statement text, rows bigint, result text,
  request_id text)
returns void
language sql
security definer
set search_path = ''
begin atomic
  insert into selvedge_console.audit (account, level, address, action, target, statement, rows, result, request_id)
  values (
    write_audit.account, write_audit.level, write_audit.address, write_audit.action, write_audit.target,
    write_audit.statement, write_audit.rows, write_audit.result, write_audit.request_id);
end;
alter function selvedge_console.write_audit owner to supabase_admin;
revoke execute on function selvedge_console.write_audit from public;
grant execute on function selvedge_console.write_audit
  to selvedge_console_service, selvedge_console_operator, postgres;

-- Nobody changes an entry, also not by rights that a later grant gives. ALWAYS, because session_replication_role switches
-- ordinary triggers off.
create function selvedge_console.refuse_change_of_audit() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  raise exception 'entries of the audit cannot be changed or removed' using errcode = 'insufficient_privilege';
end
$$;
alter function selvedge_console.refuse_change_of_audit owner to supabase_admin;
create trigger audit_stays before update or delete or truncate on selvedge_console.audit
  for each statement execute function selvedge_console.refuse_change_of_audit();
alter table selvedge_console.audit enable always trigger audit_stays;
