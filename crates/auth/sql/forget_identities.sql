-- Deletes identities of providers from an account ($1), all of them or ($2) those alone whose provider has not verified the address, and
-- what they have written into the user's metadata: the name and picture of whoever has registered the account are not its owner's.
-- Returns whether there were any.
with gone as (
  delete from auth.identities
  where user_id = $1 and provider not in ('email', 'phone')
    and (not $2::boolean or provider not like 'sso:%' and coalesce(identity_data ->> 'email_verified', '') <> 'true')
  returning identity_data
),
cleaned as (
  update auth.users u
  set raw_user_meta_data = coalesce((
    select jsonb_object_agg(member.key, member.value) from jsonb_each(u.raw_user_meta_data) member
    where not exists (select from gone where gone.identity_data -> member.key = member.value)
  ), '{}')
  where u.id = $1 and jsonb_typeof(u.raw_user_meta_data) = 'object' and exists (select from gone)
)
select exists (select from gone)
