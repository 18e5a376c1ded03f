-- Counts an attempt at a code ($1), for the network that makes it ($2), and returns the hash of the code; no row once the
-- network has made $3 attempts, or all networks together $4. Those of others do not stop a network that has asked for a code ($5).
update _selvedge.selvedge_one_time_codes
set attempts = attempts + 1,
    attempts_by_network = attempts_by_network
      || jsonb_build_object($2::text, coalesce((attempts_by_network ->> $2::text)::integer, 0) + 1)
where secret_id = $1 and (attempts < $4 or $5::boolean) and coalesce((attempts_by_network ->> $2::text)::integer, 0) < $3
returning code_hash
