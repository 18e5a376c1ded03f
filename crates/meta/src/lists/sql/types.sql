-- $7 lists the row types of tables and views, too, and $8 array types.
select
  t.oid::int8 as id,
  t.typname as name,
  n.nspname as schema,
  format_type(t.oid, null) as format,
  (
    select coalesce(json_agg(e.enumlabel order by e.enumsortorder), '[]') from pg_enum e where e.enumtypid = t.oid
  ) as enums,
  (
    select coalesce(json_agg(json_build_object('name', a.attname, 'type_id', a.atttypid::int8) order by a.attnum), '[]')
    from pg_attribute a
    where a.attrelid = t.typrelid and c.relkind = 'c' and not a.attisdropped
  ) as attributes,
  obj_description(t.oid, 'pg_type') as comment,
  nullif(t.typrelid, 0)::int8 as type_relation_id
from pg_type t
join pg_namespace n on n.oid = t.typnamespace
left join pg_class c on c.oid = t.typrelid
left join pg_type element on element.oid = t.typelem
where (t.typrelid = 0 or c.relkind = 'c' or ($7::bool and c.relkind in ('r', 'v', 'm', 'p')))
  and ($8::bool or element.typarray is distinct from t.oid)
