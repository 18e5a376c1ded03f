-- Removes what a project has created, so that its migrations can run again in the same database. The platform's schemas
-- stay, and rows of Auth and Storage go. Runs as `postgres`, in one transaction.
do $$
declare
  object record;
begin
  -- Operators of the project that fit better than PostgreSQL's own would be found in its schemas, while what they call is dropped.
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);

  -- First of all: no statement about event triggers fires one, and the project's would fire at all that follows and might refuse it.
  for object in
    select evtname from pg_catalog.pg_event_trigger where evtowner = 'postgres'::regrole
  loop
    execute format('drop event trigger if exists %I cascade', object.evtname);
  end loop;

  -- A schema of an extension goes with its extension, below. What a superuser owns is the platform's, or of whoever runs the server.
  for object in
    select nspname from pg_catalog.pg_namespace as n
    where nspowner not in (select oid from pg_catalog.pg_roles where rolsuper or rolname = 'pgbouncer')
      and nspname not in ('public', 'extensions', 'information_schema') and nspname !~ '^pg_'
      and not exists (
        select from pg_catalog.pg_depend
        where classid = 'pg_catalog.pg_namespace'::regclass and objid = n.oid and deptype = 'e'
      )
  loop
    execute format('drop schema if exists %I cascade', object.nspname);
  end loop;

  for object in
    select extname from pg_catalog.pg_extension
    where extname not in ('plpgsql', 'uuid-ossp', 'pgcrypto', 'pg_stat_statements', 'pgjwt', 'supabase_vault', 'pg_net')
      and extowner not in (select oid from pg_catalog.pg_roles where rolsuper)
  loop
    execute format('drop extension if exists %I cascade', object.extname);
  end loop;
  -- Where PostgreSQL has no files of them, they are schemas of the superuser.
  for object in
    select name from _selvedge.installed_extensions where name not in ('pgjwt', 'supabase_vault', 'pg_net')
  loop
    perform _selvedge.drop_extension(object.name, true, true);
  end loop;

  for object in
    select pubname from pg_catalog.pg_publication
    where pubowner = 'postgres'::regrole and pubname not like all (array['supabase\_realtime%', 'realtime\_messages%'])
  loop
    execute format('drop publication if exists %I', object.pubname);
  end loop;

  -- Schema public itself stays, because default privileges of the platform refer to it.
  for object in
    select oid::regprocedure as name from pg_catalog.pg_proc where pronamespace = 'public'::regnamespace
  loop
    -- An earlier `cascade` may have dropped it already; then its name is a number.
    if object.name::text !~ '^\d+$' then
      execute format('drop routine if exists %s cascade', object.name);
    end if;
  end loop;
  for object in
    select relname, case relkind
      when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' when 'S' then 'sequence'
      when 'c' then 'type' else 'table' end as kind
    from pg_catalog.pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f', 'S', 'c')
    -- The sequence of an identity column goes with its table and cannot go before it.
    order by relkind = 'S'
  loop
    execute format('drop %s if exists public.%I cascade', object.kind, object.relname);
  end loop;
  for object in
    select typname from pg_catalog.pg_type
    where typnamespace = 'public'::regnamespace and typtype in ('d', 'e', 'r')
  loop
    execute format('drop type if exists public.%I cascade', object.typname);
  end loop;

  for object in
    select policyname, schemaname, tablename from pg_catalog.pg_policies
    where schemaname in ('auth', 'storage', 'realtime')
      -- The platform's own, which hides versions of objects.
      and (schemaname, tablename, policyname) is distinct from ('storage', 'objects', 'objects_of_today')
  loop
    execute format('drop policy if exists %I on %I.%I', object.policyname, object.schemaname, object.tablename);
  end loop;

  -- Everything else that belongs to `postgres`: collations, text search, operators, statistics, views and functions in schemas
  -- of the platform, foreign servers. The platform's own objects have other owners, except for its publications.
  for object in
    select i.type, i.identity
    from pg_catalog.pg_shdepend as d
      cross join lateral pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) as i
    where d.dbid = (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database())
      and d.refclassid = 'pg_catalog.pg_authid'::regclass and d.refobjid = 'postgres'::regrole and d.deptype = 'o'
      -- What an earlier `cascade` of this loop has dropped has no name any more.
      and i.identity is not null
      -- The platform's own, which somebody has given to `postgres`.
      and pg_catalog.concat(i.type, ' ', i.identity)
        <> all (coalesce(nullif(pg_catalog.current_setting('selvedge.kept_objects', true), ''), '{}')::text[])
      and i.type = any (array[
        'collation', 'text search configuration', 'text search dictionary', 'operator', 'operator class', 'operator family',
        'conversion', 'statistics object', 'server', 'view', 'materialized view', 'table', 'foreign table', 'sequence',
        'function', 'procedure', 'aggregate', 'type', 'domain'
      ])
      and not exists (
        select from pg_catalog.pg_depend as e
        where e.classid = d.classid and e.objid = d.objid and e.deptype in ('e', 'i')
      )
      and (i.schema is null or i.schema not in ('_selvedge', 'supabase_migrations', 'cron', 'pgmq', 'net', 'graphql', 'vault'))
  loop
    -- An earlier `cascade` may have dropped it already.
    execute pg_catalog.format('drop %s if exists %s cascade',
      case object.type when 'statistics object' then 'statistics' else object.type end, object.identity);
  end loop;
  perform pg_catalog.lo_unlink(oid)
  from pg_catalog.pg_largeobject_metadata where lomowner = 'postgres'::regrole;

  -- One statement for all tables, because `cascade` would also empty tables that are meant to stay. The platform's own that refer to them
  -- are emptied with them.
  execute (
    select 'truncate ' || string_agg(c.oid::regclass::text, ', ') || ' restart identity'
    from pg_catalog.pg_class as c
    where c.relkind = 'r' and (
      c.relnamespace in ('auth'::regnamespace, 'storage'::regnamespace) and c.relname not in ('schema_migrations', 'migrations')
      or c.relnamespace = '_selvedge'::regnamespace and exists (
        select from pg_catalog.pg_constraint as k
        join pg_catalog.pg_class as r on r.oid = k.confrelid
        where k.conrelid = c.oid and k.contype = 'f' and r.relnamespace in ('auth'::regnamespace, 'storage'::regnamespace)
      )
    )
  );
  delete from vault.secrets;
end
$$;
