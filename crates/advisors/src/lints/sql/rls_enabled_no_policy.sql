select t.nspname::text, t.relname::text, 'table', '',
  format('The table %s has row-level security and no policy.', t.quoted), null::text
from project_relations t
where t.relkind in ('r', 'p') and t.relrowsecurity and not exists (select from pg_policy p where p.polrelid = t.oid)
