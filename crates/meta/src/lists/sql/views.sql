-- A view is updatable when rows can be both updated (bit 4) and deleted (bit 16), as in information_schema.views.
select
  c.oid::int8 as id,
  n.nspname as schema,
  c.relname as name,
  pg_relation_is_updatable(c.oid, false) & 20 = 20 as is_updatable,
  obj_description(c.oid, 'pg_class') as comment
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'v'
