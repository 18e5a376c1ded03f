-- Forgets pending changes of address and phone number, and the code of a reauthentication. When they were sent is kept, for the
-- pause between two messages. $1 user, $2 now.
with pending as (
  delete from auth.one_time_tokens
  where user_id = $1 and token_type in
    ('email_change_token_new', 'email_change_token_current', 'phone_change_token', 'reauthentication_token')
)
update auth.users
set email_change = '', email_change_token_new = '', email_change_token_current = '', email_change_confirm_status = 0,
    phone_change = '', phone_change_token = '', reauthentication_token = '',
    updated_at = $2
where id = $1 and concat(email_change, email_change_token_new, email_change_token_current, phone_change,
  phone_change_token, reauthentication_token) <> ''
