-- The tables of a publication with their columns in table order. Tables of schema realtime never count: their rows are
-- broadcasts, also when the publication is FOR ALL TABLES.
select
  c.oid,
  n.nspname::text as schema,
  c.relname::text as name,
  c.relrowsecurity as has_row_security,
  -- Whether the stream has every change of the table's rows.
  publication.pubinsert and publication.pubupdate and publication.pubdelete and published.rowfilter is null
    as is_streamed_whole,
  -- A policy that calls no function and reads no other table cannot depend on the claims, only on the row and the role.
  not exists (
    select from pg_catalog.pg_policy as p
    where p.polrelid = c.oid
      and (
        pg_catalog.lower(coalesce(pg_catalog.pg_get_expr(p.polqual, p.polrelid), ''))
          ~ '[a-z0-9_"]\(|\yselect\y|\ycurrent_'
        -- Operators and functions that are not PostgreSQL's own may read the claims, too.
        or exists (
          select from pg_catalog.pg_depend as d
          where d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = p.oid
            and d.refclassid in ('pg_catalog.pg_operator'::regclass, 'pg_catalog.pg_proc'::regclass)
        )
      )
  ) as is_visible_by_role,
  (
    select pg_catalog.jsonb_agg(
      pg_catalog.jsonb_build_object(
        'name', a.attname, 'number', a.attnum, 'type_oid', a.atttypid::bigint, 'type_name', t.typname,
        'sql_type', pg_catalog.format_type(a.atttypid, -1), 'is_key', i.indrelid is not null,
        'is_generated', a.attgenerated <> '', 'array_delimiter', t.typdelim
      ) order by a.attnum
    )
    from pg_catalog.pg_attribute as a
    join pg_catalog.pg_type as t on t.oid = a.atttypid
    left join pg_catalog.pg_index as i
      on i.indrelid = a.attrelid and i.indisprimary and a.attnum = any (i.indkey)
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  ) as columns
from pg_catalog.pg_publication_tables as published
join pg_catalog.pg_publication as publication on publication.pubname = published.pubname
join pg_catalog.pg_namespace as n on n.nspname = published.schemaname
join pg_catalog.pg_class as c on c.relnamespace = n.oid and c.relname = published.tablename
where published.pubname = $1 and n.nspname <> 'realtime'
