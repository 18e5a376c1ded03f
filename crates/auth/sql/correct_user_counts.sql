-- Sums up the counts of users, and corrects them by the table: triggers do not see what arrives by logical replication, or while they
-- are disabled. All is seen in one snapshot, so that sign-ups at the same time, which add rows of their own, change nothing of it.
with state as (
  -- $1 the number of corrections so far, which an earlier statement has read. Of two nodes at the same time only the first finds it unchanged:
  -- the other one would add a second correction to that, which its snapshot does not show.
  update _selvedge.selvedge_user_counts_state as s
  set triggers = coalesce(_selvedge.describe_user_triggers(), ''), corrections = s.corrections + 1
  where s.corrections = $1
  returning true
),
removed as (
  delete from _selvedge.selvedge_user_counts as c
  using state
  returning c.audience, c.day, c.change
)
insert into _selvedge.selvedge_user_counts (audience, day, change)
select coalesce(u.aud, ''), (u.created_at at time zone 'UTC')::date, count(*)
from auth.users as u
where (u.instance_id is null or u.instance_id = '00000000-0000-0000-0000-000000000000')
  and exists (select from state)
group by 1, 2
