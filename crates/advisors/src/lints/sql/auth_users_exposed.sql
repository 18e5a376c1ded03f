select distinct v.nspname::text, v.relname::text, 'view', 'auth.users',
  format('The view %s shows columns of auth.users under the rights of its owner.', v.quoted),
  case v.relkind when 'v' then format('alter view %s set (security_invoker = true)', v.quoted)
    else format('revoke select on %s from anon, authenticated', v.quoted) end
from api_relations v
join pg_rewrite w on w.ev_class = v.oid
join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refclassid = 'pg_class'::regclass
where v.relkind in ('v', 'm')
  and d.refobjid = to_regclass('auth.users')
  and not coalesce(v.reloptions && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1'], false)
