-- The views of all schemas but PostgreSQL's own, the names of their columns, and their rewrite rules, whose target lists
-- show from which column of which relation each view column comes.
select
  c.oid as id,
  n.nspname::text as schema,
  c.relname::text as name,
  r.ev_action::text as rule,
  (
    select jsonb_object_agg(a.attnum, a.attname)
    from pg_catalog.pg_attribute a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  ) as columns
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_rewrite r on r.ev_class = c.oid and r.rulename = '_RETURN'
where c.relkind in ('v', 'm')
  and n.nspname not in ('information_schema', 'pg_catalog', 'pg_toast')
order by c.oid;
