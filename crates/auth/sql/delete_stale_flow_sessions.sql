-- Deletes the sessions of flows that were never finished; a flow lives for minutes.
delete from _selvedge.selvedge_flow_sessions
where flow_state_id in (
  select flow_state_id from _selvedge.selvedge_flow_sessions
  where created_at < now() - interval '24 hours'
  limit 100
  for update skip locked
)
