select t.nspname::text, t.relname::text, 'index', i.indexrelid::regclass::text,
  format('The index %s of %s was not used since statistics are kept.', i.indexrelid::regclass, t.quoted),
  format('drop index %s', i.indexrelid::regclass)
from pg_index i
join project_relations t on t.oid = i.indrelid
join pg_stat_all_indexes s on s.indexrelid = i.indexrelid
where s.idx_scan = 0 and not i.indisunique and not i.indisprimary and i.indisvalid
  and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
  and not exists (select from pg_inherits h where h.inhrelid = i.indexrelid)
