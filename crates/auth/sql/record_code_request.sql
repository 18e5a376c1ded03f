-- Notes that a network has asked for a code to an address. $1 hash of both, $2 hash of the address, $3 attempts of the network, $4 whether
-- a code was sent. A request that has sent nothing leaves the attempts of the code before it. An address keeps its newest fifty networks.
with bounded as (
  delete from _selvedge.code_requests where request_hash in (
    select request_hash from _selvedge.code_requests
    where address_hash = $2 and request_hash <> $1
    order by asked_at desc offset 49
    for update skip locked
  )
)
insert into _selvedge.code_requests as known (request_hash, address_hash, asked_at, answers, attempts)
values ($1, $2, now(), $3::smallint, case when $4::boolean then $3::smallint else 0 end)
on conflict (request_hash) do update
set asked_at = now(),
    answers = $3::smallint,
    attempts = case
      when $4::boolean then $3::smallint
      when known.asked_at > now() - interval '1 hour' then known.attempts
      else 0
    end
