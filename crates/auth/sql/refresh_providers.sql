-- Recomputes `provider` and `providers` of the app metadata from the identities. $1 user.
-- `provider` is the provider of the oldest identity (e-mail before phone when both are equally old); a user without
-- identities keeps the old values.
update auth.users u
set raw_app_meta_data = coalesce(u.raw_app_meta_data, '{}')
      || jsonb_build_object('provider', p.first, 'providers', p.providers)
from (
  select (array_agg(provider order by created_at, provider, id))[1] as first, jsonb_agg(distinct provider) as providers
  from auth.identities where user_id = $1
) p
where u.id = $1 and p.first is not null
