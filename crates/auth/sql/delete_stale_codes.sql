-- Deletes codes whose token or challenge is gone.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from _selvedge.selvedge_one_time_codes where secret_id in (
  select code.secret_id from _selvedge.selvedge_one_time_codes code
  where code.created_at < now() - interval '10 minutes'
    and not exists (select from auth.one_time_tokens token where token.id = code.secret_id)
    and not exists (select from auth.mfa_challenges challenge where challenge.id = code.secret_id)
  limit 1000
  for update of code skip locked
)
