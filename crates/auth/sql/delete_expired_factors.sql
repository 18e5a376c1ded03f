-- Deletes unverified factors that were created before $2 and have had no challenge since. $1 user.
-- Unverified factors count towards the user's limit, so abandoned ones are deleted before a new one is added.
delete from auth.mfa_factors f
where f.user_id = $1 and f.status = 'unverified' and f.created_at < $2
  and not exists (select from auth.mfa_challenges c where c.factor_id = f.id and c.created_at >= $2)
