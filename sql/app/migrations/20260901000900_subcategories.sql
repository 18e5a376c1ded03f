create table public.subcategories (
  id          uuid        not null default gen_random_uuid(),
  name        text        not null,
  category_id uuid        not null,
  created_at  timestamptz not null default now(),

  constraint subcategories_pkey primary key (id),
  constraint subcategories_category_id_fkey
    foreign key (category_id) references public.categories (id) on delete cascade,
  constraint subcategories_name_length check (char_length(btrim(name)) between 2 and 120)
);

comment on table public.subcategories is
  'Second level of the catalogue. Deleting one leaves its items in their category.';

-- Also the index for listing the subcategories of a category.
create unique index subcategories_category_id_name_key
  on public.subcategories (category_id, lower(name));

alter table public.subcategories enable row level security;
revoke all on table public.subcategories from anon, authenticated;
grant select on table public.subcategories to anon;
grant select, insert, update, delete on table public.subcategories to authenticated;
grant all on table public.subcategories to service_role;

create policy subcategories_select_all on public.subcategories
  for select to anon, authenticated
  using (true);
comment on policy subcategories_select_all on public.subcategories is 'The catalogue is public.';

create policy subcategories_insert_admin on public.subcategories
  for insert to authenticated
  with check ((select public.is_admin_role()));
comment on policy subcategories_insert_admin on public.subcategories is 'Administrators maintain the catalogue.';

create policy subcategories_update_admin on public.subcategories
  for update to authenticated
  using ((select public.is_admin_role()))
  with check ((select public.is_admin_role()));
comment on policy subcategories_update_admin on public.subcategories is 'Administrators maintain the catalogue.';

create policy subcategories_delete_admin on public.subcategories
  for delete to authenticated
  using ((select public.is_admin_role()));
comment on policy subcategories_delete_admin on public.subcategories is 'Administrators maintain the catalogue.';
