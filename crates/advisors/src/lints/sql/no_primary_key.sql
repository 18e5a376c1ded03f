select t.nspname::text, t.relname::text, 'table', '',
  format('The table %s has no primary key.', t.quoted), null::text
from project_relations t
where t.relkind in ('r', 'p') and not t.relispartition
  and not exists (select from pg_index i where i.indrelid = t.oid and i.indisprimary)
