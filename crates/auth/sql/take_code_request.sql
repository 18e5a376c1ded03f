-- Counts an attempt of a network that has asked for a code to an address ($1, hash of both) in the last hour; returns whether attempts were
-- left of its request, and of the code that was sent for it. No row for other networks.
update _selvedge.selvedge_code_requests
set answers = greatest(answers, 0) - 1, attempts = greatest(attempts, 0) - 1
where request_hash = $1 and asked_at > now() - interval '1 hour'
returning answers >= 0 as has_asked, attempts >= 0 as was_sent
