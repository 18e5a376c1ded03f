select concat_ws(E'\n',
  format('create publication %I%s with (publish = %L, publish_via_partition_root = %s);', p.pubname,
    case when p.puballtables then ' for all tables' else ' for ' || nullif(concat_ws(', ',
      (select string_agg(format('table %s%s%s', r.prrelid::regclass,
          (select format(' (%s)', string_agg(quote_ident(a.attname), ', ' order by a.attnum))
            from pg_attribute a where a.attrelid = r.prrelid and a.attnum = any (r.prattrs::int2[])
            having count(*) > 0),
          ' where ' || pg_get_expr(r.prqual, r.prrelid)
        ), ', ' order by r.prrelid::regclass::text)
        from (
          select prrelid, prattrs, prqual from pg_publication_rel where prpubid = p.oid
        ) r),
      (select string_agg(format('tables in schema %I', s.nspname), ', ' order by s.nspname)
        from pg_publication_namespace m join pg_namespace s on s.oid = m.pnnspid where m.pnpubid = p.oid)
    ), '') end,
    concat_ws(', ', case when p.pubinsert then 'insert' end, case when p.pubupdate then 'update' end,
      case when p.pubdelete then 'delete' end, case when p.pubtruncate then 'truncate' end),
    p.pubviaroot::text),
  (select format('comment on publication %I is %L;', p.pubname, description)
    from obj_description(p.oid, 'pg_publication') as description where description is not null))
from pg_publication p
where p.oid = $1::text::oid
