-- $1 provider, $2 subject, $3 addresses that the provider has proven, $4 the address the person brings along, $5 audience.
select
  (select user_id from auth.identities where provider = $1::text and provider_id = $2::text) as owner,
  array(
    select distinct i.user_id
    from auth.identities i join auth.users u on u.id = i.user_id
    where i.email = any ($3::text[]) and i.provider not like 'sso:%'
      and not u.is_sso_user and coalesce(u.aud, '') = $5::text
  ) as identity_owners,
  array(
    select id from auth.users
    where (instance_id = '00000000-0000-0000-0000-000000000000' or instance_id is null)
      and lower(email) = any ($3::text[]) and not is_sso_user and coalesce(aud, '') = $5::text
  ) as users,
  exists (
    select from auth.users
    where (instance_id = '00000000-0000-0000-0000-000000000000' or instance_id is null)
      and lower(email) = $4::text and not is_sso_user
  )
    or exists (
      select from auth.identities where email = $4::text and provider not like 'sso:%'
    ) as is_address_taken
