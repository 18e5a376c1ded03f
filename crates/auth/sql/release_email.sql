-- Takes an address from the accounts that have it unconfirmed, because somebody else has proven it. $1 address in lowercase,
-- $2 the user who gets it, $3 whether only accounts in use lose it, which have other ways to sign in. Users of SSO keep theirs: they may share addresses with others.
-- What was sent to the address stops working, and the e-mail identity goes, which only repeats the address.
with released as (
  update auth.users
  set email = null, confirmation_token = '', recovery_token = '', reauthentication_token = '',
      email_change = '', email_change_token_new = '', email_change_token_current = '', email_change_confirm_status = 0,
      updated_at = now()
  where (instance_id = '00000000-0000-0000-0000-000000000000' or instance_id is null)
    and lower(email) = $1::text and email_confirmed_at is null and not is_sso_user and id <> $2
    and (not $3::boolean or last_sign_in_at is not null or phone_confirmed_at is not null or is_anonymous)
  returning id
),
tokens as (
  delete from auth.one_time_tokens t using released r
  where t.user_id = r.id and t.token_type <> 'phone_change_token' and strpos(t.relates_to, '@') > 0
),
identities as (
  delete from auth.identities i using released r where i.user_id = r.id and i.provider = 'email'
)
select id from released
