-- Memberships in which at least one side is a role of the project. Parameter: $1 names of the project's roles. Options of a membership
-- exist from PostgreSQL 16 on; before, the member's attribute said whether it inherits, and every member could become the role. Of the
-- grants of several roles each right counts that one of them gives.
select granted.rolname::text, member.rolname::text, bool_or(m.admin_option),
  bool_or(coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, member.rolinherit)),
  bool_or(coalesce((to_jsonb(m) ->> 'set_option')::boolean, true))
from pg_auth_members as m
  join pg_roles as granted on granted.oid = m.roleid
  join pg_roles as member on member.oid = m.member
where (granted.rolname = any ($1::text[]) or member.rolname = any ($1::text[]))
  and not granted.rolsuper and not member.rolsuper
group by 1, 2
order by 1, 2
