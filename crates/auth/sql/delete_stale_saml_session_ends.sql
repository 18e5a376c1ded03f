-- Deletes the ends of sessions whose code was never exchanged; a code lives for minutes.
delete from _selvedge.selvedge_saml_session_ends
where flow_state_id in (
  select flow_state_id from _selvedge.selvedge_saml_session_ends
  where created_at < now() - interval '24 hours'
  limit 100
  for update skip locked
)
