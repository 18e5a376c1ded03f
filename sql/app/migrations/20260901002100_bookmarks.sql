create table public.bookmarks (
  id         uuid        not null default gen_random_uuid(),
  user_id    uuid        not null default auth.uid(),
  combine_id uuid        not null,
  created_at timestamptz not null default now(),

  constraint bookmarks_pkey primary key (id),
  constraint bookmarks_user_id_fkey
    foreign key (user_id) references public.profiles (id) on delete cascade,
  constraint bookmarks_combine_id_fkey
    foreign key (combine_id) references public.combines (id) on delete cascade,
  constraint bookmarks_user_id_combine_id_key unique (user_id, combine_id)
);

comment on table public.bookmarks is
  'Outfits that a user keeps for themselves: private, one per user and outfit.';

-- For the list of a user's bookmarks, newest first, and for the cascade when an outfit is deleted.
create index bookmarks_user_id_created_at_idx on public.bookmarks (user_id, created_at desc);
create index bookmarks_combine_id_idx on public.bookmarks (combine_id);

alter table public.bookmarks enable row level security;
revoke all on table public.bookmarks from anon, authenticated;
-- No UPDATE: a bookmark is only inserted or deleted.
grant select, insert, delete on table public.bookmarks to authenticated;
grant all on table public.bookmarks to service_role;

create policy bookmarks_select_own on public.bookmarks
  for select to authenticated
  using (user_id = (select auth.uid()));
comment on policy bookmarks_select_own on public.bookmarks is
  'Bookmarks are private.';

create policy bookmarks_insert_own on public.bookmarks
  for insert to authenticated
  with check (
    user_id = (select auth.uid())
    -- The subquery is subject to the caller's policies, so users can bookmark only outfits that they can see.
    and exists (select 1 from public.combines as c where c.id = bookmarks.combine_id));
comment on policy bookmarks_insert_own on public.bookmarks is
  'Everybody bookmarks in their own name, and only outfits that they may see.';

create policy bookmarks_delete_own on public.bookmarks
  for delete to authenticated
  using (user_id = (select auth.uid()));
comment on policy bookmarks_delete_own on public.bookmarks is
  'Everybody removes their own bookmarks only.';
