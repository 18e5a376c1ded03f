-- Counts an attempt at a user's recovery codes, unless they are locked. $1 user, $2 attempts that lock them, $3 now, $4 end of a lock
-- that begins now. A lock that is over begins the count anew.
update auth.mfa_recovery_code_sets set
  failed_verification_count = case when verification_locked_until is null then failed_verification_count else 0 end + 1,
  verification_locked_until = case
    when case when verification_locked_until is null then failed_verification_count else 0 end + 1 >= $2 then $4::timestamptz
  end,
  updated_at = $3
where user_id = $1 and (verification_locked_until is null or verification_locked_until <= $3)
returning id, mfa_factor_id
