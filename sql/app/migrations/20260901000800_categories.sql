create table public.categories (
  id         uuid        not null default gen_random_uuid(),
  name       text        not null,
  icon       text,
  created_at timestamptz not null default now(),

  constraint categories_pkey primary key (id),
  constraint categories_name_length check (char_length(btrim(name)) between 2 and 120),
  constraint categories_icon_location check (icon ~ '^(https?://|/)\S+$' and char_length(icon) <= 2048)
);

comment on table public.categories is
  'First level of the catalogue. Deleting one deletes its subcategories and leaves its items without a category.';
comment on column public.categories.icon is
  'Absolute address or root-relative path such as /storage/v1/object/public/category-icons/<file>.';

create unique index categories_name_key on public.categories (lower(name));

create trigger categories_blank_to_null
  before insert or update on public.categories
  for each row execute function private.blank_to_null('icon');

alter table public.categories enable row level security;
revoke all on table public.categories from anon, authenticated;
grant select on table public.categories to anon;
grant select, insert, update, delete on table public.categories to authenticated;
grant all on table public.categories to service_role;

create policy categories_select_all on public.categories
  for select to anon, authenticated
  using (true);
comment on policy categories_select_all on public.categories is 'The catalogue is public.';

create policy categories_insert_admin on public.categories
  for insert to authenticated
  with check ((select public.is_admin_role()));
comment on policy categories_insert_admin on public.categories is 'Administrators maintain the catalogue.';

create policy categories_update_admin on public.categories
  for update to authenticated
  using ((select public.is_admin_role()))
  with check ((select public.is_admin_role()));
comment on policy categories_update_admin on public.categories is 'Administrators maintain the catalogue.';

create policy categories_delete_admin on public.categories
  for delete to authenticated
  using ((select public.is_admin_role()));
comment on policy categories_delete_admin on public.categories is 'Administrators maintain the catalogue.';
