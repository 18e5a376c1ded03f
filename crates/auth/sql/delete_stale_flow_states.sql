delete from auth.flow_state where id in (
  select id from auth.flow_state
  where created_at < now() - interval '24 hours'
  limit 1000
  for update skip locked
)
