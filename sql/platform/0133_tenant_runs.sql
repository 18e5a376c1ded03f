-- Which session creates, migrates or drops tenants.
--
-- As with the workers (0113), an advisory lock does not say it: every role may take one. The session has a name instead, which only
-- `postgres`, as whom tenants are migrated, can claim.

create function _selvedge.claim_tenants() returns boolean
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$ select _selvedge.claim_session('tenants', pg_catalog.pg_backend_pid()) $$;
comment on function _selvedge.claim_tenants() is 'Makes this session the one that changes tenants, unless another one that lives does.';
revoke all on function _selvedge.claim_tenants() from public;
grant execute on function _selvedge.claim_tenants() to postgres;
