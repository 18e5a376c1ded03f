-- Deletes what is remembered about assertions that are refused for their age by now.
delete from _selvedge.selvedge_saml_used_assertions
where ctid in (
  select ctid from _selvedge.selvedge_saml_used_assertions
  where expires_at < now()
  limit 100
  for update skip locked
)
