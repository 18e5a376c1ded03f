-- The schemas of $1 that exist and that the current role may use.
-- Source: postgres-meta 0.98, schemas.sql.ts
select n.nspname::text as name
from pg_catalog.pg_namespace n
where n.nspname = any ($1)
  and not starts_with(n.nspname::text, 'pg_')
  and (pg_has_role(n.nspowner, 'USAGE') or has_schema_privilege(n.oid, 'CREATE, USAGE'))
order by n.oid;
