-- The sequences of `serial` columns, which the defaults of the table name. Those of identity columns come with them.
select string_agg(format('create sequence %s as %s increment %s minvalue %s maxvalue %s start %s cache %s%s;',
    s.seqrelid::regclass, format_type(s.seqtypid, null), s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache,
    case when s.seqcycle then ' cycle' end), E'\n' order by d.refobjsubid)
from pg_depend d
join pg_sequence s on s.seqrelid = d.objid
where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass
  and d.refobjid = $1::text::oid and d.refobjsubid > 0 and d.deptype = 'a'
