select t.nspname::text, t.relname::text, 'table', '',
  format('pg_graphql is installed, and authenticated may select from %s.', t.quoted),
  format('revoke select on %s from authenticated', t.quoted)
from api_relations t
where t.relkind in ('r', 'v', 'm', 'f') and exists (select from pg_extension where extname = 'pg_graphql')
  and has_any_column_privilege('authenticated', t.oid, 'select')
