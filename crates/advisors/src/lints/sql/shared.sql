-- Shared by all lints. $1 are the schemas that the API exposes. Schemas of the platform and objects of extensions are
-- left out, because a project cannot mend them.
with project_schemas as (
  select s.oid, s.nspname
  from pg_namespace s
  where s.nspname !~ '^pg_' and s.nspname not in (
    'information_schema', 'auth', 'cron', 'extensions', 'graphql', 'graphql_public', 'net', 'pgbouncer', 'pgmq', 'pgmq_public',
    'realtime', '_realtime', 'storage', 'supabase_functions', 'supabase_migrations', 'vault', '_selvedge', 'selvedge_console')
), project_relations as (
  select c.*, s.nspname, format('%I.%I', s.nspname, c.relname) as quoted, s.nspname = any($1::text[]) as is_exposed
  from pg_class c
  join project_schemas s on s.oid = c.relnamespace
  where not exists (
    select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
), api_relations as (
  select r.*
  from project_relations r
  where r.is_exposed and exists (
    select from pg_roles a
    where a.rolname in ('anon', 'authenticated') and has_schema_privilege(a.oid, r.relnamespace, 'usage')
      and has_any_column_privilege(a.oid, r.oid, 'select'))
), project_policies as (
  select p.*, r.nspname, r.relname, r.quoted, r.relrowsecurity,
    pg_get_expr(p.polqual, p.polrelid) as using_text, pg_get_expr(p.polwithcheck, p.polrelid) as check_text
  from pg_policy p
  join project_relations r on r.oid = p.polrelid
), project_functions as (
  select f.*, s.nspname, s.nspname = any($1::text[]) as is_exposed,
    format('%I.%I(%s)', s.nspname, f.proname, pg_get_function_identity_arguments(f.oid)) as signature
  from pg_proc f
  join project_schemas s on s.oid = f.pronamespace
  where f.prokind in ('f', 'p') and not exists (
    select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = f.oid and d.deptype = 'e')
)
