delete from auth.users where id in (
  select id from auth.users
  where is_anonymous and created_at < now() - interval '30 days'
  limit 100
  for update skip locked
)
