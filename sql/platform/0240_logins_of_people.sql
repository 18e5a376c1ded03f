-- Logins to the database of a home for people and their programs: the two roles that have their rights, the table of logins, and the functions by
-- which `selvedge database login`, a start of the server and its gate keep to it. Until now the first `login add` made the roles and the table.

do $$
declare
  wanted text;
begin
  foreach wanted in array array['selvedge_readers', 'selvedge_writers'] loop
    if not exists (select from pg_catalog.pg_roles where rolname = wanted) then
      begin
        execute pg_catalog.format('create role %I', wanted);
      exception when duplicate_object or unique_violation then
        null; -- Another database of the server has made it at this moment.
      end;
    end if;
    -- Not always: of two databases of a server that are upgraded at once, the second one would fail.
    if exists (
      select from pg_catalog.pg_roles as r
      where r.rolname = wanted and (
        r.rolsuper or r.rolcanlogin or r.rolcreatedb or r.rolcreaterole or r.rolreplication or r.rolbypassrls
      )
    ) then
      execute pg_catalog.format('alter role %I nosuperuser nologin nocreatedb nocreaterole noreplication nobypassrls', wanted);
    end if;
  end loop;
  if pg_catalog.to_regclass('_selvedge.database_logins') is not null then
    alter table _selvedge.database_logins rename to selvedge_database_logins;
    alter table _selvedge.selvedge_database_logins rename constraint database_logins_pkey to selvedge_database_logins_pkey;
  end if;
end
$$;

create table if not exists _selvedge.selvedge_database_logins (
  name text not null constraint selvedge_database_logins_pkey primary key,
  role oid not null,
  writes boolean not null
);
revoke all on _selvedge.selvedge_database_logins from public, anon, authenticated, service_role, postgres;
grant select on _selvedge.selvedge_database_logins to authenticator;
comment on table _selvedge.selvedge_database_logins is
  'Logins that `selvedge database login add` has made. A role is one only if its name and number are here, whatever it is a member of.';

-- Memberships by which a login has rights that `login add` did not give it, its own and those of the role that it is a member of, as the statements
-- that end them; null without one. The gate refuses such a login: `postgres` may be among these rights, and nobody has decided about them.
create or replace function _selvedge.further_memberships(login oid) returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
begin atomic
  select pg_catalog.string_agg(distinct pg_catalog.concat(
    'revoke ', pg_catalog.quote_ident(role.rolname::text), ' from ', pg_catalog.quote_ident(member.rolname::text)), '; '::text)
  from pg_catalog.pg_auth_members as m
  join pg_catalog.pg_roles as role on role.oid = m.roleid
  join pg_catalog.pg_roles as member on member.oid = m.member
  where case
    when member.oid = login then role.rolname <> all (array['selvedge_readers'::name, 'selvedge_writers'::name])
    else member.rolname = any (array['selvedge_readers'::name, 'selvedge_writers'::name])
      and exists (
        select from pg_catalog.pg_auth_members as own where own.member = login and own.roleid = member.oid
      )
  end;
end;
revoke all on function _selvedge.further_memberships(oid) from public;
grant execute on function _selvedge.further_memberships(oid) to authenticator;

-- Takes back what only a superuser gives: members of the two roles that are no logins, and memberships of the two roles themselves. Returns a
-- sentence for each. Run by a superuser at each start of a home's server, and by `login add`.
create or replace function _selvedge.settle_database_logins() returns setof text
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  groups constant name[] := array['selvedge_readers', 'selvedge_writers'];
  wanted name;
  found record;
begin
  foreach wanted in array groups loop
    if exists (
      select from pg_roles as r
      where r.rolname = wanted and (
        r.rolsuper or r.rolcanlogin or r.rolcreatedb or r.rolcreaterole or r.rolreplication or r.rolbypassrls
      )
    ) then
      execute format('alter role %I nosuperuser nologin nocreatedb nocreaterole noreplication nobypassrls', wanted);
      return next format('%s had more than the rights of its grants, and has them no more', wanted);
    end if;
  end loop;
  for found in
    select distinct member.rolname as member, r.rolname as role, grantor.rolname as grantor
    from pg_auth_members as m
    join pg_roles as member on member.oid = m.member
    join pg_roles as r on r.oid = m.roleid
    left join pg_roles as grantor on grantor.oid = m.grantor
    where member.rolname = any (groups)
      or (r.rolname = any (groups) and not exists (
        select from _selvedge.selvedge_database_logins as l where l.role = member.oid and l.name = member.rolname::text
      ))
  loop
    if found.grantor is null or current_setting('server_version_num'::text)::int4 < 160000 then
      execute format('revoke %I from %I cascade', found.role, found.member);
    else
      execute format('revoke %I from %I granted by %I cascade', found.role, found.member, found.grantor);
    end if;
    return next format(
      '%s was a member of %s, and is not any more: only logins of `selvedge database login add` are, and they have no further rights',
      found.member, found.role
    );
  end loop;
end
$$;
revoke all on function _selvedge.settle_database_logins() from public;

-- Takes rights from PUBLIC that were harmless while only the platform's roles had SQL: requests and responses of pg_net, whose headers have keys,
-- and functions that write without a limit. The platform's roles keep them, and `postgres` may grant them.
create or replace function _selvedge.close_schemas_to_public() returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  keepers text;
  found record;
begin
  select string_agg(format('%I', rolname), ', '::text) into keepers from pg_roles
  where rolname = any (array['anon', 'authenticated', 'service_role', 'authenticator', 'dashboard_user']::name[])
    or rolname like 'supabase\_%';
  for found in
    select format('function %s', p.oid::regprocedure) as what, 'execute'::text as rights from pg_proc as p
    where p.pronamespace = 'pg_catalog'::regnamespace
      and (p.proname like 'lo\_%' or p.proname = any (array['loread', 'lowrite', 'pg_logical_emit_message']::name[]))
      and has_function_privilege('selvedge_readers', p.oid, 'execute'::text)
    union all
    select format('schema %I', n.nspname), 'usage'::text from pg_namespace as n
    where n.nspname = any (array['net', 'cron', 'pgmq']::name[])
      and has_schema_privilege('selvedge_readers', n.oid, 'usage'::text)
  loop
    execute format('revoke %s on %s from public', found.rights, found.what);
    execute format('grant %s on %s to %s', found.rights, found.what, keepers);
    execute format('grant %s on %s to postgres with grant option', found.rights, found.what);
  end loop;
end
$$;
revoke all on function _selvedge.close_schemas_to_public() from public;

-- The scripts of these extensions give their schemas to PUBLIC, also when `postgres` drops one and creates it again: as an extension, or by its script
-- where PostgreSQL has no files of it.
create or replace function _selvedge.close_new_extension() returns event_trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from _selvedge.selvedge_database_logins) then
    perform _selvedge.close_schemas_to_public();
  end if;
end
$$;
revoke all on function _selvedge.close_new_extension() from public;

create or replace function _selvedge.close_installed_extension() returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from _selvedge.selvedge_database_logins) then
    perform _selvedge.close_schemas_to_public();
  end if;
  return null;
end
$$;
revoke all on function _selvedge.close_installed_extension() from public;

-- Event triggers of the same event fire in the order of their names.
create event trigger _selvedge_close_new_extension on ddl_command_end when tag in ('CREATE EXTENSION', 'ALTER EXTENSION')
  execute function _selvedge.close_new_extension();
alter event trigger _selvedge_close_new_extension enable always;

create or replace trigger selvedge_close_installed_extension
  after insert on _selvedge.selvedge_installed_extensions
  for each statement execute function _selvedge.close_installed_extension();
