-- Factors that were begun and never finished make room for new ones.
delete from auth.mfa_factors f
where f.user_id = $1 and f.status = 'unverified' and f.created_at < $2
  and not exists (select from auth.mfa_challenges c where c.factor_id = f.id and c.created_at >= $2)
