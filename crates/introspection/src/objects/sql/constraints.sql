select
  k.oid::text as oid, n.nspname::text as schema, k.conname::text as name, c.relname::text as table_name,
  jsonb_build_object(
    'table_oid', c.oid::text,
    'type', case k.contype
      when 'p' then 'primary key' when 'u' then 'unique' when 'f' then 'foreign key' when 'c' then 'check'
      when 'x' then 'exclude' when 'n' then 'not null' when 't' then 'trigger' else k.contype::text end,
    'columns', coalesce((select jsonb_agg(a.attname order by p.position)
      from unnest(k.conkey) with ordinality as p(attnum, position)
      join pg_attribute a on a.attrelid = k.conrelid and a.attnum = p.attnum), '[]'),
    'expression', pg_get_constraintdef(k.oid, true),
    'target', case when k.confrelid <> 0 then k.confrelid::regclass::text end,
    'deferrable', k.condeferrable,
    'deferred', k.condeferred,
    'validated', k.convalidated,
    'comment', obj_description(k.oid, 'pg_constraint')
  )::text as details
from pg_constraint k
join pg_class c on c.oid = k.conrelid
join pg_namespace n on n.oid = c.relnamespace
where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  and ($1::text is null or n.nspname = $1)
order by n.nspname, c.relname, k.conname
