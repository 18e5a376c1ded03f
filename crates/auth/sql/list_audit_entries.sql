-- Lists a page of audit entries, newest first, with the number of all matches in each row.
-- $1 members of the payload to search (none: every entry matches), $2 the text to find as an escaped `like` pattern,
-- $3 limit, $4 offset.
select id, payload, created_at, ip_address, count(*) over () as total
from auth.audit_log_entries
where cardinality($1::text[]) = 0
  or exists (select from unnest($1::text[]) m where payload ->> m ilike '%' || $2::text || '%')
order by created_at desc limit $3 offset $4
