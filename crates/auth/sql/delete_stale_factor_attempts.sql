-- Deletes what is known of factors that are gone.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from _selvedge.selvedge_factor_attempts where factor_id in (
  select known.factor_id from _selvedge.selvedge_factor_attempts known
  where known.full_at < now() - interval '1 hour'
    and not exists (select from auth.mfa_factors factor where factor.id = known.factor_id)
  limit 1000
  for update of known skip locked
)
