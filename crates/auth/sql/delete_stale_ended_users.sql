-- Deletes notes of users whose last token has expired: a token lives for seven days at most.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from _selvedge.selvedge_ended_users where user_id in (
  select user_id from _selvedge.selvedge_ended_users
  where ended_at < now() - interval '8 days'
  limit 1000
  for update skip locked
)
