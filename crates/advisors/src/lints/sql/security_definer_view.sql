select v.nspname::text, v.relname::text, 'view', '',
  format('The view %s is exposed by the API and runs under the rights of its owner.', v.quoted),
  format('alter view %s set (security_invoker = true)', v.quoted)
from api_relations v
where v.relkind = 'v'
  and not coalesce(v.reloptions && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1'], false)
