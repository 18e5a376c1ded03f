select f.nspname::text, f.proname::text, 'function', f.signature,
  format('The function %s is security definer and can be called by authenticated.', f.signature),
  format('revoke execute on routine %s from authenticated, public', f.signature)
from project_functions f
where f.is_exposed and f.prosecdef and f.prorettype <> 'trigger'::regtype
  and has_schema_privilege('authenticated', f.pronamespace, 'usage') and has_function_privilege('authenticated', f.oid, 'execute')
