-- Inserts the hashes $2 as codes of the set $1, in their order. $3 now.
insert into auth.mfa_recovery_codes (mfa_recovery_code_set_id, code_hash, created_at)
select $1, hash, $3::timestamptz + ordinality * interval '1 microsecond'
from unnest($2::text[]) with ordinality as codes (hash, ordinality)
