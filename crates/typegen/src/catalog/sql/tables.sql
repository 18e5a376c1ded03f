-- Tables and foreign tables of the schemas $1 of which the current role may use something.
-- Source: postgres-meta 0.98, tables.sql.ts, foreign_tables.sql.ts
select c.oid as id, n.nspname::text as schema, c.relname::text as name, c.relkind = 'f' as is_foreign
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = any ($1)
  and not pg_is_other_temp_schema(n.oid)
  and (
    c.relkind = 'f'
    or c.relkind in ('r', 'p') and (
      pg_has_role(c.relowner, 'USAGE')
      or has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
      or has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
    )
  )
order by c.oid;
