-- Columns of the relations in the schemas $1. A column of a domain has the format of the domain's base type.
-- Source: postgres-meta 0.98, columns.sql.ts
select
  c.oid as table_id,
  a.attname::text as name,
  coalesce(bt.typname, t.typname)::text as format,
  a.attidentity in ('a', 'd') as is_identity,
  a.attidentity = 'a' as is_always_generated,
  ad.oid is not null as has_default,
  not (a.attnotnull or t.typtype = 'd' and t.typnotnull) as is_nullable,
  c.relkind in ('r', 'p')
    or c.relkind in ('v', 'f') and pg_column_is_updatable(c.oid, a.attnum, false) as is_updatable
from pg_catalog.pg_attribute a
left join pg_catalog.pg_attrdef ad on a.atthasdef and ad.adrelid = a.attrelid and ad.adnum = a.attnum
join pg_catalog.pg_class c on c.oid = a.attrelid
join pg_catalog.pg_namespace nc on nc.oid = c.relnamespace
join pg_catalog.pg_type t on t.oid = a.atttypid
left join pg_catalog.pg_type bt on t.typtype = 'd' and bt.oid = t.typbasetype
where nc.nspname = any ($1)
  and not pg_is_other_temp_schema(nc.oid)
  and a.attnum > 0
  and not a.attisdropped
  and c.relkind in ('r', 'v', 'm', 'f', 'p')
  and (
    pg_has_role(c.relowner, 'USAGE')
    or has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES')
  )
order by c.oid, a.attnum;
