select
  a.attrelid::text as table,
  a.attname as name,
  format_type(a.atttypid, a.atttypmod) as type,
  not (a.attnotnull or t.typtype = 'd' and t.typnotnull) as nullable,
  case when a.attgenerated = '' then pg_get_expr(e.adbin, e.adrelid) end as default,
  nullif(a.attidentity::text, '') as identity,
  case when a.attgenerated <> '' then pg_get_expr(e.adbin, e.adrelid) end as generated,
  d.description as comment
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_type t on t.oid = a.atttypid
left join pg_attrdef e on e.adrelid = a.attrelid and e.adnum = a.attnum
left join pg_description d on d.objoid = a.attrelid and d.objsubid = a.attnum and d.classoid = 'pg_class'::regclass
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
order by n.nspname, c.relname, a.attnum
