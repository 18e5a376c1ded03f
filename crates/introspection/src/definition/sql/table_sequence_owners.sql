select string_agg(format('alter sequence %s owned by %s.%I;', s.seqrelid::regclass, d.refobjid::regclass, a.attname),
    E'\n' order by d.refobjsubid)
from pg_depend d
join pg_sequence s on s.seqrelid = d.objid
join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass
  and d.refobjid = $1::text::oid and d.refobjsubid > 0 and d.deptype = 'a'
