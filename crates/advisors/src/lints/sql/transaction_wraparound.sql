select t.nspname::text, t.relname::text, 'table', '',
  format('The oldest rows of %s are %s million transactions old, so vacuum does not reach them.', t.quoted,
    age(t.relfrozenxid) / 1000000),
  format('vacuum (freeze) %s', t.quoted)
from project_relations t
where t.relkind in ('r', 'm') and t.relfrozenxid <> '0'::xid
  and age(t.relfrozenxid) > greatest(1000000000, 2 * current_setting('autovacuum_freeze_max_age')::bigint)
