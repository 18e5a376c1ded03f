-- Takes back an attempt of a network ($2) at a set of recovery codes ($1), and the lock that it has set ($3). $4 now. Where the set shows this
-- lock, it shows the latest one of the other networks from then on.
with returned as (
  update _selvedge.selvedge_recovery_code_attempts tried set
    failed_count = greatest(tried.failed_count - 1, 0),
    locked_until = nullif(tried.locked_until, $3::timestamptz)
  where tried.set_id = $1 and tried.network_hash = $2
  returning tried.set_id
)
update auth.mfa_recovery_code_sets known set
  failed_verification_count = greatest(known.failed_verification_count - 1, 0),
  verification_locked_until = case
    when known.verification_locked_until is distinct from $3::timestamptz then known.verification_locked_until
    else (
      select max(other.locked_until) from _selvedge.selvedge_recovery_code_attempts other
      where other.set_id = known.id and other.network_hash <> $2 and other.locked_until > $4
    )
  end,
  updated_at = $4
from returned
where known.id = returned.set_id
