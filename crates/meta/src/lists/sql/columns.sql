-- A domain is described by the type below it, because clients choose an editor by that.
select
  c.oid::int8 as table_id,
  n.nspname as schema,
  c.relname as table,
  c.oid || '.' || a.attnum as id,
  a.attnum as ordinal_position,
  a.attname as name,
  pg_get_expr(d.adbin, d.adrelid) as default_value,
  case
    when base.typelem <> 0 and base.typlen = -1 then 'ARRAY'
    when base.typnamespace = 'pg_catalog'::regnamespace then format_type(base.oid, null)
    else 'USER-DEFINED'
  end as data_type,
  base.typname as format,
  a.attidentity <> '' as is_identity,
  case a.attidentity when 'a' then 'ALWAYS' when 'd' then 'BY DEFAULT' end as identity_generation,
  a.attgenerated = 's' as is_generated,
  not (a.attnotnull or (t.typtype = 'd' and t.typnotnull)) as is_nullable,
  case
    when c.relkind in ('r', 'p') then true
    when c.relkind in ('v', 'f') then pg_column_is_updatable(c.oid, a.attnum, false)
    else false
  end as is_updatable,
  exists (
    select from pg_constraint u where u.conrelid = c.oid and u.contype = 'u' and u.conkey = array[a.attnum]
  ) as is_unique,
  (
    select coalesce(json_agg(e.enumlabel order by e.enumsortorder), '[]')
    from pg_enum e
    where e.enumtypid in (base.oid, base.typelem)
  ) as enums,
  (
    select pg_get_expr(k.conbin, k.conrelid, true)
    from pg_constraint k
    where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
    order by k.oid
    limit 1
  ) as check,
  col_description(c.oid, a.attnum) as comment
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_type t on t.oid = a.atttypid
join pg_type base on base.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and not pg_is_other_temp_schema(n.oid)
  and (
    pg_has_role(c.relowner, 'usage')
    or has_column_privilege(c.oid, a.attnum, 'select, insert, update, references')
  )
