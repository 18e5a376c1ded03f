-- The policies of the relation $1 in the order in which PostgreSQL evaluates them, and whether each applies to the role $2.
-- The stored expression trees contain oids of functions and relations, which pg_get_expr() does not show: whether a function
-- is volatile, a view of another owner is read, or a system column is used.
select
  p.polname::text,
  p.polcmd::text,
  p.polpermissive,
  array(
    select case when role = 0 then 'public' else role::regrole::text end
    from unnest(p.polroles) with ordinality as given (role, place)
    order by place
  ) as roles,
  exists (
    select from unnest(p.polroles) as role where role = 0 or pg_has_role(r.oid, role, 'usage')
  ) as applies,
  pg_get_expr(p.polqual, p.polrelid),
  pg_get_expr(p.polwithcheck, p.polrelid),
  exists (
    select
    from regexp_matches(trees.text, ':(?:funcid|opfuncid) ([0-9]+)', 'g') as found
    join pg_proc f on f.oid = found[1]::oid
    where f.provolatile = 'v'
  ) as is_volatile,
  exists (
    select
    from regexp_matches(trees.text, ':relid ([0-9]+)', 'g') as found
    join pg_class v on v.oid = found[1]::oid
    where v.relkind in ('v', 'm')
  ) as reads_views,
  trees.text ~ ':varattno -' as uses_system_columns
from pg_policy p
cross join pg_roles r
cross join lateral (
  select concat(p.polqual::text, p.polwithcheck::text) as text
) as trees
where p.polrelid = $1 and r.rolname = $2
order by p.polname
