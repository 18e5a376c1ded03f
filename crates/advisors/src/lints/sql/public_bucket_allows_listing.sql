select 'storage', b.name, 'bucket', p.polname::text,
  format('The policy %I lets callers list the public bucket %s.', p.polname, b.name),
  format('drop policy %I on storage.objects', p.polname)
from storage.buckets b
join pg_policy p on p.polrelid = 'storage.objects'::regclass and p.polpermissive and p.polcmd in ('r', '*')
cross join lateral (select pg_get_expr(p.polqual, p.polrelid) as using_text) as e
where b.public
  and exists (
    select from unnest(p.polroles) as role
    left join pg_roles r on r.oid = role
    where role = 0 or r.rolname in ('anon', 'authenticated'))
  and (e.using_text = 'true' or e.using_text = format('(bucket_id = %L::text)', b.id))
