-- Forgets the accounts that are gone, or that somebody has used since.
delete from _selvedge.selvedge_unproven_sign_ins
where user_id in (
  select a.user_id from _selvedge.selvedge_unproven_sign_ins a
  where a.created_at < now() - interval '24 hours' and not exists (
    select from auth.users u where u.id = a.user_id and u.last_sign_in_at is null
  )
  limit 1000
  for update skip locked
)
