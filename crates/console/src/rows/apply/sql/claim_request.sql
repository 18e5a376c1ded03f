-- Takes an id for an account's request: $1 account, $2 id, $3 digest of the changes. No row is written when the id is taken.
-- Rows that another request is about to forget are skipped, because waiting for it would delay these changes.
with old as (
  select request_id from selvedge_console.selvedge_applied_requests
  where account = $1 and at < (
    select at from selvedge_console.selvedge_applied_requests
    where account = $1 order by at desc offset 9998 limit 1)
  for update skip locked
), forgotten as (
  delete from selvedge_console.selvedge_applied_requests a using old
  where a.account = $1 and a.request_id = old.request_id
), long as (
  select request_id from selvedge_console.selvedge_applied_requests
  where account = $1 and answer is not null and at < (
    select at from selvedge_console.selvedge_applied_requests
    where account = $1 and answer is not null order by at desc offset 98 limit 1)
  for update skip locked
), shortened as (
  update selvedge_console.selvedge_applied_requests a set answer = null from long
  where a.account = $1 and a.request_id = long.request_id and not exists (select from old where old.request_id = a.request_id)
)
insert into selvedge_console.selvedge_applied_requests (account, request_id, changes_digest)
values ($1, $2::text::uuid, $3)
on conflict do nothing
