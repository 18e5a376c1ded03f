select n.oid::int8 as id, n.nspname as name, pg_get_userbyid(n.nspowner) as owner
from pg_namespace n
where n.nspname !~ '^pg_(toast_)?temp_'
  and (pg_has_role(n.nspowner, 'usage') or has_schema_privilege(n.oid, 'create, usage'))
