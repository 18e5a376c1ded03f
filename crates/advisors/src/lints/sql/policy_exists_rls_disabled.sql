select t.nspname::text, t.relname::text, 'table', '',
  format('The table %s has policies, but row-level security is off.', t.quoted),
  format('alter table %s enable row level security', t.quoted)
from project_relations t
where t.relkind in ('r', 'p') and not t.relrowsecurity and exists (select from pg_policy p where p.polrelid = t.oid)
