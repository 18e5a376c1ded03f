-- Forgets who has set the password of users that were confirmed or deleted since.
delete from _selvedge.selvedge_vouched_passwords
where user_id in (
  select v.user_id from _selvedge.selvedge_vouched_passwords v
  where v.created_at < now() - interval '24 hours' and not exists (
    select from auth.users u
    where u.id = v.user_id and u.email_confirmed_at is null and u.phone_confirmed_at is null
  )
  limit 100
  for update skip locked
)
