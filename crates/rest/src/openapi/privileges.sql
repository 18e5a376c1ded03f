-- What the caller may use in the schema $1, and the schema's comment. One row.
select
  (select coalesce(array_agg(c.relname::text), '{}')
   from pg_catalog.pg_class c
   where c.relnamespace = n.oid
     and c.relkind in ('v', 'r', 'm', 'f', 'p')
     and not c.relispartition
     and (pg_catalog.pg_has_role(c.relowner, 'USAGE')
       or pg_catalog.has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
       or pg_catalog.has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))) as relations,
  (select coalesce(array_agg(p.oid), '{}')
   from pg_catalog.pg_proc p
   where p.pronamespace = n.oid
     and p.prokind = 'f'
     and pg_catalog.has_function_privilege(p.oid, 'execute')) as functions,
  pg_catalog.obj_description(n.oid, 'pg_namespace') as comment
from pg_catalog.pg_namespace n
where n.nspname = $1
