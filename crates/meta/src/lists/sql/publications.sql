-- A publication of all tables has no list of them.
select
  p.oid::int8 as id,
  p.pubname as name,
  pg_get_userbyid(p.pubowner) as owner,
  p.pubinsert as publish_insert,
  p.pubupdate as publish_update,
  p.pubdelete as publish_delete,
  p.pubtruncate as publish_truncate,
  case when not p.puballtables then (
    select coalesce(json_agg(json_build_object('id', c.oid::int8, 'name', c.relname, 'schema', n.nspname)
      order by n.nspname, c.relname), '[]')
    from pg_publication_rel member
    join pg_class c on c.oid = member.prrelid
    join pg_namespace n on n.oid = c.relnamespace
    where member.prpubid = p.oid
  ) end as tables
from pg_publication p
