-- Takes a number from an account in use that has not confirmed it, for a new account of somebody who has yet to prove it. $1
-- number, $2 the user who gets it. Codes that were sent to the number stop working, and the phone identity goes, which only
-- repeats the number.
with released as (
  update auth.users
  set phone = null, updated_at = now()
  where phone = $1::text and phone_confirmed_at is null and not is_sso_user and id <> $2
    and (last_sign_in_at is not null or email_confirmed_at is not null or is_anonymous)
  returning id
),
tokens as (
  delete from auth.one_time_tokens t using released r where t.user_id = r.id and t.relates_to = $1::text
)
delete from auth.identities i using released r where i.user_id = r.id and i.provider = 'phone'
