-- Deletes requests for codes that count no longer. Anybody can write one for each address that they name, so more are deleted at once than
-- of other kinds.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from _selvedge.selvedge_code_requests where request_hash in (
  select request_hash from _selvedge.selvedge_code_requests
  where asked_at < now() - interval '1 hour'
  limit 20000
  for update skip locked
)
