-- The index of a constraint comes and goes with the constraint.
select concat_ws(E'\n',
  case when k.oid is null then pg_get_indexdef(x.indexrelid) || ';'
    else format('alter table %s add constraint %I %s;', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid)) end,
  case when x.indisclustered then format('alter table %s cluster on %I;', x.indrelid::regclass, i.relname) end,
  (select format('comment on index %s is %L;', x.indexrelid::regclass, description)
    from obj_description(x.indexrelid, 'pg_class') as description where description is not null))
from pg_index x
join pg_class i on i.oid = x.indexrelid
left join pg_constraint k on k.conindid = x.indexrelid and k.conrelid = x.indrelid and k.contype in ('p', 'u', 'x')
where x.indexrelid = $1::text::oid
