select id, payload, created_at, ip_address, count(*) over () as total
from auth.audit_log_entries
where cardinality($1::text[]) = 0 or exists (select from unnest($1::text[]) m where payload ->> m ilike $2::text)
order by created_at desc limit $3 offset $4
