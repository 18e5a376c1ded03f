select concat_ws(E'\n',
  format(E'create %s %s%s as\n%s%s',
    case c.relkind when 'm' then 'materialized view' else 'view' end,
    c.oid::regclass,
    (select format(' with (%s)', string_agg(format('%I = %L', option_name, option_value), ', '))
      from pg_options_to_table(c.reloptions) having count(*) > 0),
    rtrim(pg_get_viewdef(c.oid, true), '; '),
    case when c.relkind = 'm' and not c.relispopulated then E'\nwith no data;' else ';' end),
  (select string_agg(pg_get_indexdef(x.indexrelid) || ';', E'\n' order by x.indexrelid) from pg_index x where x.indrelid = c.oid),
  (select string_agg(pg_get_triggerdef(t.oid) || ';', E'\n' order by t.tgname)
    from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal),
  (select string_agg(pg_get_ruledef(r.oid), E'\n' order by r.rulename)
    from pg_rewrite r where r.ev_class = c.oid and r.rulename <> '_RETURN'),
  (select format('comment on %s %s is %L;', case c.relkind when 'm' then 'materialized view' else 'view' end, c.oid::regclass, description)
    from obj_description(c.oid, 'pg_class') as description where description is not null),
  (select string_agg(format('comment on column %s.%I is %L;', c.oid::regclass, a.attname, d.description), E'\n' order by a.attnum)
    from pg_description d
    join pg_attribute a on a.attrelid = d.objoid and a.attnum = d.objsubid
    where d.classoid = 'pg_class'::regclass and d.objoid = c.oid and d.objsubid > 0))
from pg_class c
where c.oid = $1::text::oid and c.relkind in ('v', 'm')
