select concat_ws(E'\n',
  pg_get_triggerdef(t.oid) || ';',
  case t.tgenabled
    when 'D' then format('alter table %s disable trigger %I;', t.tgrelid::regclass, t.tgname)
    when 'R' then format('alter table %s enable replica trigger %I;', t.tgrelid::regclass, t.tgname)
    when 'A' then format('alter table %s enable always trigger %I;', t.tgrelid::regclass, t.tgname)
  end,
  (select format('comment on trigger %I on %s is %L;', t.tgname, t.tgrelid::regclass, description)
    from obj_description(t.oid, 'pg_trigger') as description where description is not null))
from pg_trigger t
where t.oid = $1::text::oid and not t.tgisinternal
