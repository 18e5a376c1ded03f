create table public.likes (
  id         uuid        not null default gen_random_uuid(),
  user_id    uuid        not null default auth.uid(),
  combine_id uuid,
  product_id uuid,
  created_at timestamptz not null default now(),

  constraint likes_pkey primary key (id),
  constraint likes_user_id_fkey
    foreign key (user_id) references public.profiles (id) on delete cascade,
  constraint likes_combine_id_fkey
    foreign key (combine_id) references public.combines (id) on delete cascade,
  constraint likes_product_id_fkey
    foreign key (product_id) references public.items (id) on delete cascade,
  constraint likes_exactly_one_target check (num_nonnulls(combine_id, product_id) = 1),
  -- Nulls are distinct in unique constraints, so each constraint applies only to likes of its own kind
  -- (outfit or item).
  constraint likes_user_id_combine_id_key unique (user_id, combine_id),
  constraint likes_user_id_product_id_key unique (user_id, product_id)
);

comment on table public.likes is
  'One like per user and target: an outfit (combine_id) or an item (product_id). Public like the counts made from it; what a person keeps for themselves is a bookmark.';
comment on column public.likes.product_id is 'Refers to items.id.';

-- For counting and embedding likes of an outfit or item, and for the cascade when it is deleted.
create index likes_combine_id_idx on public.likes (combine_id) where combine_id is not null;
create index likes_product_id_idx on public.likes (product_id) where product_id is not null;
-- A user's likes, newest first.
create index likes_user_id_created_at_idx on public.likes (user_id, created_at desc);

alter table public.likes enable row level security;
revoke all on table public.likes from anon, authenticated;
grant select on table public.likes to anon;
-- No UPDATE: a like is only inserted or deleted.
grant select, insert, delete on table public.likes to authenticated;
grant all on table public.likes to service_role;

create policy likes_select_all on public.likes
  for select to anon, authenticated
  using (true);
comment on policy likes_select_all on public.likes is
  'The ranking counts the likes of everybody.';

create policy likes_insert_own on public.likes
  for insert to authenticated
  with check (
    user_id = (select auth.uid())
    -- The subquery is subject to the caller's policies, so users can like only outfits and items that they
    -- can see.
    and (combine_id is null
      or exists (select 1 from public.combines as c where c.id = likes.combine_id)));
comment on policy likes_insert_own on public.likes is
  'Everybody likes in their own name, and only outfits that they may see.';

create policy likes_delete_own on public.likes
  for delete to authenticated
  using (user_id = (select auth.uid()));
comment on policy likes_delete_own on public.likes is
  'Everybody takes back their own likes only.';
