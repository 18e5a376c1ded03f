select string_agg(
  case when d.objsubid = 0 then format('comment on %s %s is %L;',
      case c.relkind when 'f' then 'foreign table' else 'table' end, c.oid::regclass, d.description)
    else format('comment on column %s.%I is %L;', c.oid::regclass, a.attname, d.description) end, E'\n' order by d.objsubid)
from pg_description d
join pg_class c on c.oid = d.objoid
left join pg_attribute a on a.attrelid = d.objoid and a.attnum = d.objsubid and d.objsubid > 0
where d.classoid = 'pg_class'::regclass and d.objoid = $1::text::oid
