create table public.colors (
  id               uuid        not null default gen_random_uuid(),
  name             text        not null,
  hex_code         text        not null,
  description      text,
  meta_description text,
  created_at       timestamptz not null default now(),

  constraint colors_pkey primary key (id),
  constraint colors_name_length check (char_length(btrim(name)) between 2 and 120),
  constraint colors_hex_code_format check (hex_code ~ '^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$'),
  constraint colors_description_length check (char_length(description) <= 10000),
  constraint colors_meta_description_length check (char_length(meta_description) <= 1000)
);

comment on table public.colors is
  'Named colors. Items and outfits list them by id in their column "colors"; deleting one takes it out of those lists.';

create unique index colors_name_key on public.colors (lower(name));
create index colors_name_idx on public.colors (name);
create index colors_name_trgm_idx on public.colors using gin (name extensions.gin_trgm_ops);

create trigger colors_blank_to_null
  before insert or update on public.colors
  for each row execute function private.blank_to_null('description', 'meta_description');

alter table public.colors enable row level security;
revoke all on table public.colors from anon, authenticated;
grant select on table public.colors to anon;
grant select, insert, update, delete on table public.colors to authenticated;
grant all on table public.colors to service_role;

create policy colors_select_all on public.colors
  for select to anon, authenticated
  using (true);
comment on policy colors_select_all on public.colors is 'The catalogue is public.';

create policy colors_insert_admin on public.colors
  for insert to authenticated
  with check ((select public.is_admin_role()));
comment on policy colors_insert_admin on public.colors is 'Administrators maintain the catalogue.';

create policy colors_update_admin on public.colors
  for update to authenticated
  using ((select public.is_admin_role()))
  with check ((select public.is_admin_role()));
comment on policy colors_update_admin on public.colors is 'Administrators maintain the catalogue.';

create policy colors_delete_admin on public.colors
  for delete to authenticated
  using ((select public.is_admin_role()));
comment on policy colors_delete_admin on public.colors is 'Administrators maintain the catalogue.';
