select
  p.oid::text as oid, null::text as schema, p.pubname::text as name, null::text as table_name,
  jsonb_build_object(
    'owner', pg_get_userbyid(p.pubowner),
    'all_tables', p.puballtables,
    'insert', p.pubinsert, 'update', p.pubupdate, 'delete', p.pubdelete, 'truncate', p.pubtruncate,
    'tables', coalesce((select jsonb_agg(r.prrelid::regclass::text order by r.prrelid::regclass::text)
      from pg_publication_rel r where r.prpubid = p.oid), '[]'),
    'schemas', coalesce((select jsonb_agg(s.nspname order by s.nspname)
      from pg_publication_namespace m join pg_namespace s on s.oid = m.pnnspid where m.pnpubid = p.oid), '[]'),
    'comment', obj_description(p.oid, 'pg_publication')
  )::text as details
from pg_publication p
where $1::text is null or true
order by p.pubname
