-- The columns of the primary keys of those of the tables $1 that nothing else in the catalog depends on: no relationship (foreign keys to
-- tables that have no endpoint in the schemas $2 lead to none, unless there are views, which may show their columns), no type of the project,
-- which may have casts, and no function of their rows.
with views as (
  select exists (
    select from pg_catalog.pg_class v
    join pg_catalog.pg_namespace n on n.oid = v.relnamespace
    where v.relkind in ('v', 'm') and n.nspname::text = any ($2)) as has_any
)
select
  c.oid as oid,
  array(
    select a.attname::text
    from pg_catalog.pg_constraint k
    join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = any (k.conkey)
    where k.conrelid = c.oid and k.contype = 'p') as primary_key
from pg_catalog.pg_class c
where c.oid = any ($1)
  and not exists (
    select from pg_catalog.pg_constraint k
    join pg_catalog.pg_class target on target.oid = k.confrelid
    join pg_catalog.pg_namespace n on n.oid = target.relnamespace
    where k.contype = 'f' and k.conrelid = c.oid and ((select has_any from views) or n.nspname::text = any ($2)))
  and not exists (select from pg_catalog.pg_constraint k where k.contype = 'f' and k.confrelid = c.oid)
  and not exists (
    select from pg_catalog.pg_attribute a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.atttypid >= 16384)
  and not exists (select from pg_catalog.pg_proc p where p.pronargs = 1 and p.proargtypes[0] = c.reltype);
