select p.nspname::text, p.relname::text, 'policy', p.polname::text,
  format('The project has anonymous users, and the policy %I on %s does not look for them.', p.polname, p.quoted),
  null::text
from project_policies p
where exists (select from auth.users u where u.is_anonymous)
  and exists (
    select from unnest(p.polroles) as role
    left join pg_roles r on r.oid = role
    where role = 0 or r.rolname = 'authenticated')
  and concat(p.using_text, p.check_text) !~ 'is_anonymous'
