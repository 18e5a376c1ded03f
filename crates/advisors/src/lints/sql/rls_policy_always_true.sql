select p.nspname::text, p.relname::text, 'policy', p.polname::text,
  format('The policy %I on %s lets its roles write every row.', p.polname, p.quoted), null::text
from project_policies p
where p.polpermissive and p.polcmd <> 'r'
  and exists (
    select from unnest(p.polroles) as role
    left join pg_roles r on r.oid = role
    where role = 0 or r.rolname in ('anon', 'authenticated'))
  and (
    coalesce(p.check_text, case when p.polcmd in ('*', 'w', 'a') then p.using_text end)
      ~ '^\(?(true|(\d+) = \2|(''[^'']*''(::text)?) = \3)\)?$'
    or p.polcmd in ('*', 'd') and p.using_text ~ '^\(?(true|(\d+) = \2|(''[^'']*''(::text)?) = \3)\)?$')
