-- Deletes relay states whose sign-in was never finished.
delete from auth.saml_relay_states
where id in (
  select id from auth.saml_relay_states
  where created_at < now() - interval '24 hours'
  limit 100
  for update skip locked
)
