-- Foreign keys of all schemas, and whether their columns are a unique key of their own table: a view in a chosen schema may
-- select columns of a table in another one. Source: postgres-meta 0.98, table_relationships.sql.ts
with own_keys as (
  select k.conrelid, jsonb_agg(columns.names) as keys
  from pg_catalog.pg_constraint k
  cross join lateral (
    select jsonb_agg(a.attname order by a.attnum) as names
    from pg_catalog.pg_attribute a
    where a.attrelid = k.conrelid and a.attnum = any (k.conkey)
  ) columns
  where k.contype in ('p', 'u')
  group by k.conrelid
)
select
  k.conname::text as name,
  k.conrelid as relation_id,
  k.conkey as column_numbers,
  k.confrelid as referenced_relation_id,
  k.confkey as referenced_column_numbers,
  own_schema.nspname::text as schema,
  own.relname::text as relation,
  other_schema.nspname::text as referenced_schema,
  other.relname::text as referenced_relation,
  array(
    select a.attname::text
    from unnest(k.conkey) with ordinality as key (number, position)
    join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = key.number
    order by key.position
  ) as columns,
  array(
    select a.attname::text
    from unnest(k.confkey) with ordinality as key (number, position)
    join pg_catalog.pg_attribute a on a.attrelid = k.confrelid and a.attnum = key.number
    order by key.position
  ) as referenced_columns,
  (
    select jsonb_agg(a.attname order by key.position)
    from unnest(k.conkey) with ordinality as key (number, position)
    join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = key.number
  ) in (select jsonb_array_elements(own_keys.keys)) as is_one_to_one
from pg_catalog.pg_constraint k
join pg_catalog.pg_namespace own_schema on own_schema.oid = k.connamespace
join pg_catalog.pg_class own on own.oid = k.conrelid
join pg_catalog.pg_class other on other.oid = k.confrelid
join pg_catalog.pg_namespace other_schema on other_schema.oid = other.relnamespace
left join own_keys on own_keys.conrelid = k.conrelid
where k.contype = 'f'
  and k.conparentid = 0
  and own_schema.nspname not in ('information_schema', 'pg_catalog', 'pg_toast')
order by k.oid;
