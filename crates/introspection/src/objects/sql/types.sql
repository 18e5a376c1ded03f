select
  t.oid::text as oid, n.nspname::text as schema, t.typname::text as name, null::text as table_name,
  jsonb_build_object(
    'kind', case t.typtype when 'e' then 'enum' when 'c' then 'composite' when 'd' then 'domain' when 'r' then 'range'
      when 'm' then 'multirange' else 'base' end,
    'values', (select jsonb_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid),
    'attributes', (select jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod))
        order by a.attnum)
      from pg_attribute a where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped),
    'base', case when t.typtype = 'd' then format_type(t.typbasetype, t.typtypmod)
      when t.typtype = 'r' then (select format_type(r.rngsubtype, null) from pg_range r where r.rngtypid = t.oid) end,
    'owner', pg_get_userbyid(t.typowner),
    'comment', obj_description(t.oid, 'pg_type')
  )::text as details
from pg_type t
join pg_namespace n on n.oid = t.typnamespace
left join pg_class c on c.oid = t.typrelid
where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  and (t.typrelid = 0 or c.relkind = 'c')
  -- Every type has a type of arrays, which comes and goes with it.
  and not exists (select from pg_type element where element.typarray = t.oid)
  and ($1::text is null or n.nspname = $1)
order by n.nspname, t.typname
