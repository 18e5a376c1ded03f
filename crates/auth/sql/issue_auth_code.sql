-- The clock of the exchange starts with the click, not with the request for the mail.
update auth.flow_state set auth_code_issued_at = $3, updated_at = $3
where id = (
  select id from auth.flow_state
  where user_id = $1 and authentication_method = $2::text
  order by created_at desc limit 1
)
returning auth_code
