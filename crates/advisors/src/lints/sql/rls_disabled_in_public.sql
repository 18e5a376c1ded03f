select t.nspname::text, t.relname::text, 'table', '',
  format('The table %s is exposed by the API without row-level security.', t.quoted),
  format('alter table %s enable row level security', t.quoted)
from api_relations t
where t.relkind in ('r', 'p') and not t.relrowsecurity
