-- Forgets the contested accounts that were confirmed or deleted since.
delete from _selvedge.selvedge_contested_accounts
where user_id in (
  select c.user_id from _selvedge.selvedge_contested_accounts c
  where c.created_at < now() - interval '24 hours' and not exists (
    select from auth.users u
    where u.id = c.user_id and u.email_confirmed_at is null and u.phone_confirmed_at is null
  )
  limit 100
  for update skip locked
)
