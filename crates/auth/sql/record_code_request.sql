-- Notes that a network has asked for a code to an address. $1 hash of both, $2 attempts of the network, $3 whether a code was sent. A request
-- that has sent nothing leaves the attempts of the code before it.
-- How many networks an address has is not bounded: whoever may have rows deleted, deletes the one of the owner.
insert into _selvedge.selvedge_code_requests as known (request_hash, asked_at, answers, attempts)
values ($1, now(), $2::smallint, case when $3::boolean then $2::smallint else 0 end)
on conflict (request_hash) do update
set asked_at = now(),
    answers = $2::smallint,
    attempts = case
      when $3::boolean then $2::smallint
      when known.asked_at > now() - interval '1 hour' then known.attempts
      else 0
    end
