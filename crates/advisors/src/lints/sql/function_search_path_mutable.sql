select f.nspname::text, f.proname::text, 'function', f.signature,
  format('The function %s resolves names by the search path of its caller.', f.signature),
  format('alter routine %s set search_path = ''''', f.signature)
from project_functions f
where not exists (select from unnest(f.proconfig) as setting where setting ~ '^search_path=')
  -- The body of a function in standard SQL is stored parsed, so that no name is resolved when it is called.
  and f.prosqlbody is null
