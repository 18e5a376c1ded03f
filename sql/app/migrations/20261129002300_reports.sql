-- Reports of outfits and people: a queue in the admin area.

create table public.reports (
  id          uuid        not null default gen_random_uuid(),
  reporter_id uuid        not null default auth.uid(),
  combine_id  uuid,
  profile_id  uuid,
  reason      text        not null,
  note        text,
  state       text        not null default 'open',
  decided_by  uuid,
  decided_at  timestamptz,
  created_at  timestamptz not null default now(),

  constraint reports_pkey primary key (id),
  constraint reports_reporter_id_fkey
    foreign key (reporter_id) references public.profiles (id) on delete cascade,
  constraint reports_combine_id_fkey
    foreign key (combine_id) references public.combines (id) on delete cascade,
  constraint reports_profile_id_fkey
    foreign key (profile_id) references public.profiles (id) on delete cascade,
  constraint reports_decided_by_fkey
    foreign key (decided_by) references public.profiles (id) on delete set null,
  -- One report per person and subject.
  constraint reports_reporter_id_combine_id_key unique (reporter_id, combine_id),
  constraint reports_reporter_id_profile_id_key unique (reporter_id, profile_id),
  constraint reports_one_subject check (num_nonnulls(combine_id, profile_id) = 1),
  constraint reports_others check (profile_id <> reporter_id),
  constraint reports_reason_known check (reason in ('rights', 'person', 'nudity', 'hatred', 'spam', 'other')),
  constraint reports_note_length check (char_length(note) <= 1000),
  constraint reports_state_known check (state in ('open', 'done', 'dismissed')),
  constraint reports_created_at_finite check (isfinite(created_at)),
  constraint reports_decided_at_finite check (isfinite(decided_at))
);
comment on table public.reports is
  'What people report of outfits and of others. Read by the reporter and by administrators, who decide.';
-- The queue, oldest first.
create index reports_open_idx on public.reports (created_at) where state = 'open';
-- For the cascades.
create index reports_combine_id_idx on public.reports (combine_id);
create index reports_profile_id_idx on public.reports (profile_id);
create index reports_decided_by_idx on public.reports (decided_by);

alter table public.reports enable row level security;
revoke all on table public.reports from anon, authenticated;
grant select on table public.reports to authenticated;
grant insert (reporter_id, combine_id, profile_id, reason, note), update (state) on table public.reports to authenticated;
grant all on table public.reports to service_role;

create policy reports_select_own_or_admin on public.reports
  for select to authenticated
  using (reporter_id = (select auth.uid()) or (select public.is_admin_role()));
comment on policy reports_select_own_or_admin on public.reports is
  'Nobody learns who has reported them.';

create policy reports_insert_own on public.reports
  for insert to authenticated
  with check (
    reporter_id = (select auth.uid())
    -- The subqueries are subject to the caller's policies, so that nobody finds out which ids exist.
    and (combine_id is null
      or exists (select from public.combines as c where c.id = combine_id and c.user_id is distinct from (select auth.uid())))
    and (profile_id is null or exists (select from public.profiles as p where p.id = profile_id)));
comment on policy reports_insert_own on public.reports is
  'Everybody reports in their own name what they may see, and not themselves.';

create policy reports_update_admin on public.reports
  for update to authenticated
  using ((select public.is_admin_role()))
  with check ((select public.is_admin_role()));
comment on policy reports_update_admin on public.reports is 'Administrators decide; only the state can be written.';

create trigger reports_blank_to_null
  before insert on public.reports
  for each row execute function private.blank_to_null('note');

create function private.note_report_decision() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  new.decided_by := case when new.state <> 'open' then auth.uid() end;
  new.decided_at := case when new.state <> 'open' then now() end;
  return new;
end
$$;
comment on function private.note_report_decision() is
  'Before-update trigger: who has decided about a report, and when; nobody has about an open one.';
revoke execute on function private.note_report_decision() from public;

create trigger reports_note_decision
  before update of state on public.reports
  for each row execute function private.note_report_decision();

alter table private.asked_for drop constraint asked_for_kind_known;
alter table private.asked_for add constraint asked_for_kind_known
  check (kind in ('submission', 'picture', 'follow', 'report'));

create function private.limit_reports() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  if private.count_daily(new.reporter_id, 'report') > 30 then
    raise exception 'You have reported 30 times within a day. Report the next one tomorrow.'
      using errcode = 'check_violation', constraint = 'reports_daily_limit', schema = 'public', table = 'reports';
  end if;
  return null;
end
$$;
comment on function private.limit_reports() is 'After-insert trigger: one person does not fill the queue.';
revoke execute on function private.limit_reports() from public;

-- After the policy has refused a report in somebody else's name.
create trigger reports_limit
  after insert on public.reports
  for each row when (new.reporter_id = auth.uid())
  execute function private.limit_reports();

create or replace function public.admin_overview() returns jsonb
  language plpgsql
  stable
  -- The caller's policies apply: administrators see every row of these tables.
  set search_path = ''
as $$
begin
  perform private.require_admin();
  return jsonb_build_object(
    'brands', (select count(*) from public.brands),
    'categories', (select count(*) from public.categories),
    'subcategories', (select count(*) from public.subcategories),
    'items', (select count(*) from public.items),
    'combines', (select count(*) from public.combines),
    'pending', (select count(*) from public.combines where status = 'pending' and not created_by_admin),
    'reports', (select count(*) from public.reports where state = 'open'),
    'colors', (select count(*) from public.colors),
    'styles', (select count(*) from public.styles),
    'outfit_styles', (select count(*) from public.outfit_styles),
    'users', (select count(*) from public.profiles));
end
$$;
comment on function public.admin_overview() is
  'Administrators only: how many rows each section of the admin area has, how many outfits wait for review, and how many reports are open.';
