select t.nspname::text, t.relname::text, 'table', k.conname::text,
  format('The foreign key %I of %s refers to a unique constraint of %s.', k.conname, t.quoted, k.confrelid::regclass),
  format('alter table %s drop constraint %I', t.quoted, k.conname)
from pg_constraint k
join project_relations t on t.oid = k.conrelid
join pg_class target on target.oid = k.confrelid
join pg_namespace s on s.oid = target.relnamespace
join pg_index i on i.indexrelid = k.conindid
where k.contype = 'f' and s.nspname = 'auth' and not i.indisprimary
