-- Descriptions, labels and checks are joined: a function or query for each column would take most of the time where there are thousands of
-- tables.
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
  coalesce(labels.enums, '[]') as enums,
  pg_get_expr(checked.conbin, c.oid, true) as check,
  described.description as comment
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_type t on t.oid = a.atttypid
join pg_type base on base.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
left join pg_description described
  on described.objoid = c.oid and described.classoid = 'pg_class'::regclass and described.objsubid = a.attnum
left join (
  select e.enumtypid, json_agg(e.enumlabel order by e.enumsortorder) as enums from pg_enum e group by e.enumtypid
) labels on labels.enumtypid = case when base.typtype = 'e' then base.oid else base.typelem end
left join (
  select distinct on (k.conrelid, k.conkey[1]) k.conrelid, k.conkey[1] as attnum, k.conbin
  from pg_constraint k
  where k.contype = 'c' and cardinality(k.conkey) = 1
  order by k.conrelid, k.conkey[1], k.oid
) checked on checked.conrelid = c.oid and checked.attnum = a.attnum
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and not pg_is_other_temp_schema(n.oid)
  and (
    pg_has_role(c.relowner, 'usage')
    or has_column_privilege(c.oid, a.attnum, 'select, insert, update, references')
  )
