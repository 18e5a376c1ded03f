select string_agg(concat_ws(E'\n', pg_get_triggerdef(t.oid) || ';',
    case t.tgenabled
      when 'D' then format('alter table %s disable trigger %I;', t.tgrelid::regclass, t.tgname)
      when 'R' then format('alter table %s enable replica trigger %I;', t.tgrelid::regclass, t.tgname)
      when 'A' then format('alter table %s enable always trigger %I;', t.tgrelid::regclass, t.tgname)
    end), E'\n' order by t.tgname)
from pg_trigger t
where t.tgrelid = $1::text::oid and not t.tgisinternal and t.tgparentid = 0
