-- All types of the database with their enum labels and attributes: a column may have a type of any schema.
-- Source: postgres-meta 0.98, types.sql.ts
select
  t.oid as id,
  t.typname::text as name,
  n.nspname::text as schema,
  format_type(t.oid, null) as format,
  coalesce((
    select array_agg(e.enumlabel::text order by e.enumsortorder)
    from pg_catalog.pg_enum e
    where e.enumtypid = t.oid
  ), '{}') as enums,
  coalesce((
    select jsonb_agg(jsonb_build_object('name', a.attname, 'type_id', a.atttypid::int8) order by a.attnum)
    from pg_catalog.pg_attribute a
    where c.relkind = 'c' and a.attrelid = c.oid and not a.attisdropped
  ), '[]') as attributes,
  t.typrelid <> 0 as is_row_type
from pg_catalog.pg_type t
join pg_catalog.pg_namespace n on n.oid = t.typnamespace
left join pg_catalog.pg_class c on c.oid = t.typrelid
where t.typrelid = 0 or c.relkind in ('c', 'r', 'v', 'm', 'p')
order by t.oid;
