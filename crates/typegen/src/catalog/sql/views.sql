-- Views and materialized views of the schemas $1. A view is updatable when UPDATE and DELETE work on it (4 and 16).
-- Source: postgres-meta 0.98, views.sql.ts, materialized_views.sql.ts
select c.oid as id, n.nspname::text as schema, c.relname::text as name,
  c.relkind = 'v' and (pg_relation_is_updatable(c.oid, false) & 20) = 20 as is_updatable,
  c.relkind = 'm' as is_materialized
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = any ($1) and c.relkind in ('v', 'm')
order by c.oid;
