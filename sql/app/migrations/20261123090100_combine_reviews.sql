-- The history of reviews: who decided what and why, and what the outfit looked like then. An outfit keeps only its last
-- decision, and loses that one when it is submitted again.

create table public.combine_reviews (
  id            uuid        not null default gen_random_uuid(),
  combine_id    uuid        not null,
  decision      text        not null,
  reason        text,
  decided_by    uuid,
  decided_at    timestamptz not null default now(),
  name          text        not null,
  description   text,
  main_image    text,
  gender        text        not null,
  item_ids      uuid[]      not null,
  outfit_styles uuid[]      not null,
  colors        uuid[]      not null,

  constraint combine_reviews_pkey primary key (id),
  constraint combine_reviews_combine_id_fkey
    foreign key (combine_id) references public.combines (id) on delete cascade,
  -- The decision stays when the administrator's account is deleted.
  constraint combine_reviews_decided_by_fkey
    foreign key (decided_by) references public.profiles (id) on delete set null,
  constraint combine_reviews_decision_known check (decision in ('approved', 'rejected'))
);

comment on table public.combine_reviews is
  'Decisions about submissions, written by a trigger on combines. The columns from name on are the outfit as it was decided about. Read by administrators only.';
comment on column public.combine_reviews.reason is 'What the creator was told about a rejection.';
comment on column public.combine_reviews.decided_by is 'The administrator; null when the account was deleted, or for a decision by the service key.';

-- The history of one outfit, newest first, and the cascade of outfits.
create index combine_reviews_combine_id_idx on public.combine_reviews (combine_id, decided_at desc);
-- For the deletion of profiles.
create index combine_reviews_decided_by_idx on public.combine_reviews (decided_by) where decided_by is not null;

alter table public.combine_reviews enable row level security;
revoke all on table public.combine_reviews from anon, authenticated;
-- Nobody may write: a history that can be edited proves nothing.
grant select on table public.combine_reviews to authenticated;
grant all on table public.combine_reviews to service_role;

create policy combine_reviews_select_admin on public.combine_reviews
  for select to authenticated
  using ((select public.is_admin_role()));
comment on policy combine_reviews_select_admin on public.combine_reviews is
  'Administrators only: creators learn the decision by a notification, and not who decided.';

create function private.record_review() returns trigger
  language plpgsql
  -- Security definer: nobody may write the history.
  security definer
  set search_path = ''
as $$
begin
  insert into public.combine_reviews (
    combine_id, decision, reason, decided_by, decided_at,
    name, description, main_image, gender, item_ids, outfit_styles, colors)
  values (
    new.id, new.status, new.rejection_reason,
    (select p.id from public.profiles as p where p.id = new.approved_by), new.approved_at,
    new.name, new.description, new.main_image, new.gender, new.item_ids, new.outfit_styles, new.colors);
  return null;
end
$$;
comment on function private.record_review() is
  'After-update trigger on combines: writes a decision into the history, with the outfit as it was decided about.';

create trigger combines_record_review
  after update of status on public.combines
  for each row when (new.status <> old.status and new.status <> 'pending' and not new.created_by_admin)
  execute function private.record_review();

-- The decisions that stand already. What the administrators saw then is unknown; the outfit as it is now comes closest.
insert into public.combine_reviews (
  combine_id, decision, reason, decided_by, decided_at,
  name, description, main_image, gender, item_ids, outfit_styles, colors)
select c.id, c.status, c.rejection_reason, p.id, c.approved_at,
       c.name, c.description, c.main_image, c.gender, c.item_ids, c.outfit_styles, c.colors
from public.combines as c
left join public.profiles as p on p.id = c.approved_by
where c.status <> 'pending' and not c.created_by_admin;

-- A withdrawn review leaves no trace, so its entry in the history goes, too.
create or replace function public.withdraw_reviews(combine_ids uuid[]) returns setof uuid
  language plpgsql
  -- Security definer: nobody may delete notifications or entries of the history.
  security definer
  set search_path = ''
as $$
declare
  outfit public.combines;
begin
  perform private.require_admin();
  if cardinality(combine_ids) > 100 then
    raise exception 'At most 100 reviews are withdrawn at once.' using errcode = 'invalid_parameter_value';
  end if;

  -- In the order of the ids: two calls with overlapping lists would otherwise wait for each other's rows.
  for outfit in
    select * from public.combines as c
    where c.id = any (combine_ids)
      and c.status <> 'pending' and not c.created_by_admin
      -- Only the caller's own decision, and only soon after it: later on, others have relied on it.
      and c.approved_by = auth.uid() and c.approved_at > now() - interval '5 minutes'
    order by c.id
    for update
  loop
    delete from public.notifications as n
    where n.combine_id = outfit.id and n.kind = outfit.status and n.created_at >= outfit.approved_at;
    delete from public.combine_reviews as r
    where r.combine_id = outfit.id and r.decision = outfit.status and r.decided_at >= outfit.approved_at;
    update public.combines as c set status = 'pending' where c.id = outfit.id;
    return next outfit.id;
  end loop;
end
$$;
