-- A restore without triggers ends with `enable trigger all`, after which the triggers that count users are silent for imports and restores, so
-- that nobody believes the counts any more. One that is disabled stays so: somebody wants that.
do $$
begin
  if exists (
    select from pg_catalog.pg_trigger
    where tgrelid = 'auth.users'::regclass and tgenabled = 'O'
      and tgname in ('selvedge_count_added', 'selvedge_count_removed', 'selvedge_count_moved', 'selvedge_count_truncated')
  ) and not exists (
    select from pg_catalog.pg_trigger
    where tgrelid = 'auth.users'::regclass and tgenabled = 'D'
      and tgname in ('selvedge_count_added', 'selvedge_count_removed', 'selvedge_count_moved', 'selvedge_count_truncated')
  ) then
    -- The next clean-up tries again; meanwhile nobody waits behind this one.
    set local lock_timeout = '500ms';
    alter table auth.users enable always trigger selvedge_count_added;
    alter table auth.users enable always trigger selvedge_count_removed;
    alter table auth.users enable always trigger selvedge_count_moved;
    alter table auth.users enable always trigger selvedge_count_truncated;
  end if;
exception when lock_not_available or insufficient_privilege then
  null;
end
$$
