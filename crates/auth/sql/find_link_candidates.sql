-- Finds the accounts that a sign-in with a provider may belong to. All addresses are in lowercase; users of SSO are
-- left out, because they are never linked.
-- $1 provider, $2 the user's id there, $3 addresses that the provider has verified, $4 the address of a new account, $5
-- audience.
-- `instance_id` may be null in rows that were inserted by hand (AUTH-089).
select
  -- Owner of exactly this identity.
  (select user_id from auth.identities where provider = $1::text and provider_id = $2::text) as owner,
  array(
    -- Owners of identities with a verified address.
    select distinct i.user_id
    from auth.identities i join auth.users u on u.id = i.user_id
    where i.email = any ($3::text[]) and i.provider not like 'sso:%'
      and not u.is_sso_user and coalesce(u.aud, '') = $5::text
  ) as identity_owners,
  array(
    -- Users with a verified address.
    select id from auth.users
    where (instance_id = '00000000-0000-0000-0000-000000000000' or instance_id is null)
      and lower(email) = any ($3::text[]) and not is_sso_user and coalesce(aud, '') = $5::text
  ) as users,
  -- Whether any user or identity has the address, verified or not.
  exists (
    select from auth.users
    where (instance_id = '00000000-0000-0000-0000-000000000000' or instance_id is null)
      and lower(email) = $4::text and not is_sso_user
  )
    or exists (
      select from auth.identities where email = $4::text and provider not like 'sso:%'
    ) as is_address_taken
