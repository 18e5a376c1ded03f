-- Custom media type handlers: domains named like media types, and what returns them in the exposed schemas ($1):
-- aggregates over a row type or anyelement, and functions.
with media_types as (
  select t.oid, t.typnamespace, t.typname::text as spelled, lower(t.typname) as name
  from pg_catalog.pg_type t
  where t.typbasetype <> 0
    and (t.typname ~* '^[a-z0-9.-]+/[a-z0-9.+-]+$' or t.typname = '*/*')
    -- an array, so that PostgreSQL uses the index and does not read the types of other schemas
    and t.oid = any (array(
      select p.prorettype from pg_catalog.pg_proc p
      where p.pronamespace in (select oid from pg_catalog.pg_namespace where nspname = any ($1))))
),
targets as (
  select reltype as oid from pg_catalog.pg_class where relkind in ('r', 'v', 'm', 'f', 'p')
  union
  select 'anyelement'::regtype
)
select
  n.nspname::text as handler_schema,
  p.proname::text as handler_name,
  arg_schema.nspname::text as target_schema,
  arg.typname::text as target_name,
  m.name as media_type
from media_types m
join pg_catalog.pg_proc p on p.prorettype = m.oid and p.prokind = 'a' and p.pronargs = 1
join pg_catalog.pg_namespace n on n.oid = p.pronamespace and n.nspname = any ($1)
join pg_catalog.pg_type arg on arg.oid = p.proargtypes[0]
join pg_catalog.pg_namespace arg_schema on arg_schema.oid = arg.typnamespace
where arg.oid in (select oid from targets)
union
select
  type_schema.nspname::text, m.spelled, n.nspname::text, p.proname::text, m.name
from media_types m
join pg_catalog.pg_namespace type_schema on type_schema.oid = m.typnamespace
join pg_catalog.pg_proc p on p.prorettype = m.oid and p.prokind = 'f' and not p.proretset
join pg_catalog.pg_namespace n on n.oid = p.pronamespace and n.nspname = any ($1);
