-- Types are named by schema and name and not by format_type, whose words depend on the session's search_path.
select
  c.oid::text as oid, n.nspname::text as schema, c.relname::text as name, c.relkind::text as kind,
  case when c.reltuples >= 0 then c.reltuples::int8 end as rows,
  a.attname::text as column, a.attnum as attribute,
  format('%I.%I', tn.nspname, t.typname) as cast_type,
  format_type(a.atttypid, a.atttypmod) as type,
  base.oid as base_oid, base.typlen as length, base.typcategory::text as category,
  not a.attnotnull as nullable,
  a.attidentity::text as identity,
  a.attgenerated <> '' as generated,
  has_table_privilege(c.oid, 'select') as readable,
  has_column_privilege(c.oid, a.attnum, 'select') as column_readable
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_type t on t.oid = a.atttypid
join pg_namespace tn on tn.oid = t.typnamespace
-- A domain may stand on another domain.
join lateral (
  with recursive chain as (
    select b.oid, b.typbasetype, b.typtype, b.typlen, b.typcategory from pg_type b where b.oid = t.oid
    union all
    select b.oid, b.typbasetype, b.typtype, b.typlen, b.typcategory
    from chain join pg_type b on b.oid = chain.typbasetype and chain.typtype = 'd'
  )
  select oid, typlen, typcategory from chain where typtype <> 'd'
) base on true
where c.oid = $1::text::oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
order by a.attnum
