-- Returns the code of the user's newest flow. $1 user, $2 method of the flow, $3 now.
-- The code's lifetime begins when the link is opened, not when the mail was requested: a mail may be read late.
update auth.flow_state set auth_code_issued_at = $3, updated_at = $3
where id = (
  select id from auth.flow_state
  where user_id = $1 and authentication_method = $2::text
  order by created_at desc limit 1
)
returning auth_code
