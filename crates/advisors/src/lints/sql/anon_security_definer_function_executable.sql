select f.nspname::text, f.proname::text, 'function', f.signature,
  format('The function %s is security definer and can be called by anon.', f.signature),
  format('revoke execute on routine %s from anon, public', f.signature)
from project_functions f
where f.is_exposed and f.prosecdef and f.prorettype <> 'trigger'::regtype
  and has_schema_privilege('anon', f.pronamespace, 'usage') and has_function_privilege('anon', f.oid, 'execute')
