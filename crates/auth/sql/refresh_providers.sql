-- `provider` is that of the first identity (of several made at once, e-mail before phone), `providers` lists all.
update auth.users u
set raw_app_meta_data = coalesce(u.raw_app_meta_data, '{}')
      || jsonb_build_object('provider', p.first, 'providers', p.providers)
from (
  select (array_agg(provider order by created_at, provider, id))[1] as first, jsonb_agg(distinct provider) as providers
  from auth.identities where user_id = $1
) p
where u.id = $1 and p.first is not null
