-- Foreign keys come last, because they need the key of a table that refers to itself. What a partition or child has from
-- its parent is made with it.
select string_agg(format('alter table %s add constraint %I %s;', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid)),
    E'\n' order by k.contype = 'f', k.contype <> 'p', k.conname)
from pg_constraint k
where k.conrelid = $1::text::oid and k.contype in ('p', 'u', 'c', 'x', 'f') and k.conislocal and k.conparentid = 0
