select t.nspname::text, t.relname::text, 'index', copy.indexrelid::regclass::text,
  format('The index %s of %s is the same as %s.', copy.indexrelid::regclass, t.quoted, kept.indexrelid::regclass),
  format('drop index %s', copy.indexrelid::regclass)
from pg_index copy
join pg_index kept on kept.indrelid = copy.indrelid and kept.indexrelid <> copy.indexrelid
  and kept.indkey = copy.indkey and kept.indclass = copy.indclass and kept.indcollation = copy.indcollation
  and kept.indoption = copy.indoption and kept.indnkeyatts = copy.indnkeyatts
  and kept.indpred::text is not distinct from copy.indpred::text
  and kept.indexprs::text is not distinct from copy.indexprs::text
join pg_class kept_class on kept_class.oid = kept.indexrelid
join pg_class copy_class on copy_class.oid = copy.indexrelid and copy_class.relam = kept_class.relam
join project_relations t on t.oid = copy.indrelid
-- The one that is kept makes rows unique if any does; among equals it is the older one.
where (kept.indisunique, -kept.indexrelid::bigint) > (copy.indisunique, -copy.indexrelid::bigint)
  and not exists (select from pg_constraint k where k.conindid = copy.indexrelid)
