-- Deletes anonymous users 30 days after their creation. Few per statement, because foreign keys and triggers of the
-- project may do much work for each user.
-- The limit and `skip locked` keep the statement short, and let several nodes clean up at the same time.
delete from auth.users where id in (
  select id from auth.users
  where is_anonymous and created_at < now() - interval '30 days'
  limit 100
  for update skip locked
)
