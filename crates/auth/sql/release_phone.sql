-- Takes a number from the accounts that have it unconfirmed, because somebody else has proven it, or signs up with it. $1
-- number, $2 the user who gets it, $3 whether only accounts in use lose it, which have other ways to sign in. Codes that were
-- sent to the number stop working, and the phone identity goes, which only repeats the number.
with released as (
  update auth.users
  set phone = null,
      confirmation_token = case when coalesce(email, '') = '' then '' else confirmation_token end,
      updated_at = now()
  where phone = $1::text and phone_confirmed_at is null and not is_sso_user and id <> $2
    and (not $3::boolean or last_sign_in_at is not null or email_confirmed_at is not null or is_anonymous)
  returning id
),
tokens as (
  delete from auth.one_time_tokens t using released r where t.user_id = r.id and t.relates_to = $1::text
),
identities as (
  delete from auth.identities i using released r where i.user_id = r.id and i.provider = 'phone'
)
select id from released
