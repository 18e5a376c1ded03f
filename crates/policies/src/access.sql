-- For each table of a project and each role: what each verb may touch. "none" without the privilege or with row-level
-- security and no permissive policy, "policy" when policies decide, "all" when privileges alone do.
with tables as (
  select c.oid, n.nspname, c.relname, c.relkind, c.relnamespace, c.relowner, c.relrowsecurity, c.relforcerowsecurity
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f')
    and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast', '_selvedge', 'selvedge_console')
    and n.nspname !~ '^pg_(temp|toast_temp)_'
), verbs (verb, letter) as (
  values ('select', 'r'), ('insert', 'a'), ('update', 'w'), ('delete', 'd')
)
select
  t.oid::text,
  t.nspname::text,
  t.relname::text,
  r.rolname::text,
  v.verb,
  case
    when not has_schema_privilege(r.oid, t.relnamespace, 'usage') then 'none'
    when not case v.verb
      when 'delete' then has_table_privilege(r.oid, t.oid, 'delete')
      else has_any_column_privilege(r.oid, t.oid, v.verb)
    end then 'none'
    when not t.relrowsecurity or r.rolsuper or r.rolbypassrls
      or (pg_has_role(r.oid, t.relowner, 'usage') and not t.relforcerowsecurity) then 'all'
    when exists (
      select
      from pg_policy p
      where p.polrelid = t.oid and p.polpermissive and p.polcmd in ('*', v.letter::"char")
        -- An INSERT is decided by the check, which falls back to the using expression of a policy for all commands.
        and (p.polqual is not null or v.verb = 'insert')
        and exists (
          select from unnest(p.polroles) as role where role = 0 or pg_has_role(r.oid, role, 'usage')
        )
    ) then 'policy'
    else 'none'
  end
from tables t
cross join pg_roles r
cross join verbs v
where r.rolname = any($1)
order by t.nspname, t.relname, t.oid, r.rolname, v.verb
