select string_agg(pg_get_indexdef(x.indexrelid) || ';', E'\n' order by i.relname)
from pg_index x
join pg_class i on i.oid = x.indexrelid
where x.indrelid = $1::text::oid
  and not exists (select from pg_constraint k where k.conindid = x.indexrelid and k.conrelid = x.indrelid and k.contype in ('p', 'u', 'x'))
  and not exists (select from pg_inherits h where h.inhrelid = x.indexrelid)
