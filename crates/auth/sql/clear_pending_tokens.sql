-- Deletes all pending links and codes after a change of the password: somebody who could read the mailbox may have
-- requested them. $1 user, $2 now.
with pending as (
  delete from auth.one_time_tokens where user_id = $1
)
update auth.users
set confirmation_token = '', confirmation_sent_at = null,
    recovery_token = '', recovery_sent_at = null,
    email_change_token_new = '', email_change_token_current = '', email_change_sent_at = null,
    phone_change_token = '', phone_change_sent_at = null,
    reauthentication_token = '', reauthentication_sent_at = null,
    updated_at = $2
where id = $1
