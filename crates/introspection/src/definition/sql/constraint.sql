select concat_ws(E'\n',
  format('alter table %s add constraint %I %s;', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid)),
  (select format('comment on constraint %I on %s is %L;', k.conname, k.conrelid::regclass, description)
    from obj_description(k.oid, 'pg_constraint') as description where description is not null))
from pg_constraint k
where k.oid = $1::text::oid and k.conrelid <> 0
