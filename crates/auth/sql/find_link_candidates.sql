-- Finds the accounts that a sign-in with a provider may belong to. All addresses are in lowercase; users of SSO are
-- left out, because they are never linked.
-- $1 provider, $2 the user's id there, $3 addresses that the provider has verified, $4 the address of a new account, $5
-- audience, $6 providers whose identities prove nothing.
-- `instance_id` may be null in rows that were inserted by hand (AUTH-089).
with holders as (
  -- Users with a verified address, or with the address of a new account. An account is unused while nobody has signed in
  -- to it, or could have.
  select id, lower(email) as address, email_confirmed_at is not null as is_confirmed,
    last_sign_in_at is null and phone_confirmed_at is null and deleted_at is null as is_unused
  from auth.users
  where (instance_id = '00000000-0000-0000-0000-000000000000' or instance_id is null)
    and lower(email) = any ($3::text[] || $4::text) and not is_sso_user and coalesce(aud, '') = $5::text
),
owners as (
  -- Owners of identities with a verified address. The identity of a phone number has no address of its own.
  select distinct i.user_id, i.email
  from auth.identities i join auth.users u on u.id = i.user_id
  where i.email = any ($3::text[] || $4::text)
    and i.identity_data ->> 'email_verified' = 'true'
    and i.provider <> 'phone' and i.provider not like 'sso:%' and i.provider <> all ($6::text[])
    and not u.is_sso_user and coalesce(u.aud, '') = $5::text
    and (u.last_sign_in_at is not null or u.email_confirmed_at is not null or u.phone_confirmed_at is not null)
)
select
  -- Owner of exactly this identity.
  known.user_id as owner,
  coalesce(known.is_unproven, false) as is_owner_unproven,
  array(select distinct user_id from owners where email = any ($3::text[])) as identity_owners,
  array(select id from holders where is_confirmed and address = any ($3::text[])) as users,
  -- Accounts that nobody has proven to own, with the address of a new account, which the provider has verified.
  array(
    select id from holders where not is_confirmed and is_unused and address = $4::text and address = any ($3::text[])
  ) as unproven,
  -- Whether an account has the address, which is unique over all audiences, or has proven it at a provider.
  exists (
    select from auth.users
    where (instance_id = '00000000-0000-0000-0000-000000000000' or instance_id is null)
      and lower(email) = $4::text and not is_sso_user
  )
    or exists (select from owners where email = $4::text) as is_address_taken
from (values (1)) as one
left join (
  select i.user_id,
    u.email_confirmed_at is null and u.phone_confirmed_at is null and u.last_sign_in_at is null as is_unproven
  from auth.identities i join auth.users u on u.id = i.user_id
  where i.provider = $1::text and i.provider_id = $2::text
) as known on true
