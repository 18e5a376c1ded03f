create table public.outfit_styles (
  id               uuid        not null default gen_random_uuid(),
  name             text        not null default 'Unnamed Style',
  description      text,
  meta_description text,
  image            text,
  created_at       timestamptz not null default now(),

  constraint outfit_styles_pkey primary key (id),
  constraint outfit_styles_name_length check (char_length(btrim(name)) between 2 and 120),
  constraint outfit_styles_image_location check (image ~ '^(https?://|/)\S+$' and char_length(image) <= 2048),
  constraint outfit_styles_description_length check (char_length(description) <= 10000),
  constraint outfit_styles_meta_description_length check (char_length(meta_description) <= 1000)
);

comment on table public.outfit_styles is
  'Outfit styles. Outfits list them by id in their column "outfit_styles"; deleting one takes it out of those lists.';
comment on column public.outfit_styles.image is
  'Absolute address or root-relative path such as /storage/v1/object/public/images/outfit-style-images/<file>.';

-- Not unique: rows of a bulk import without a name all get the default name.
create index outfit_styles_name_idx on public.outfit_styles (name);
create index outfit_styles_name_trgm_idx on public.outfit_styles using gin (name extensions.gin_trgm_ops);

create trigger outfit_styles_blank_to_null
  before insert or update on public.outfit_styles
  for each row execute function private.blank_to_null('description', 'meta_description', 'image');

alter table public.outfit_styles enable row level security;
revoke all on table public.outfit_styles from anon, authenticated;
grant select on table public.outfit_styles to anon;
grant select, insert, update, delete on table public.outfit_styles to authenticated;
grant all on table public.outfit_styles to service_role;

create policy outfit_styles_select_all on public.outfit_styles
  for select to anon, authenticated
  using (true);
comment on policy outfit_styles_select_all on public.outfit_styles is 'The catalogue is public.';

create policy outfit_styles_insert_admin on public.outfit_styles
  for insert to authenticated
  with check ((select public.is_admin_role()));
comment on policy outfit_styles_insert_admin on public.outfit_styles is 'Administrators maintain the catalogue.';

create policy outfit_styles_update_admin on public.outfit_styles
  for update to authenticated
  using ((select public.is_admin_role()))
  with check ((select public.is_admin_role()));
comment on policy outfit_styles_update_admin on public.outfit_styles is 'Administrators maintain the catalogue.';

create policy outfit_styles_delete_admin on public.outfit_styles
  for delete to authenticated
  using ((select public.is_admin_role()));
comment on policy outfit_styles_delete_admin on public.outfit_styles is 'Administrators maintain the catalogue.';
