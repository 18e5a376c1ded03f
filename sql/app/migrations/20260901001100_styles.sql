create table public.styles (
  id               uuid        not null default gen_random_uuid(),
  name             text        not null,
  description      text,
  meta_description text,
  image            text,
  created_at       timestamptz not null default now(),

  constraint styles_pkey primary key (id),
  constraint styles_name_length check (char_length(btrim(name)) between 2 and 120),
  constraint styles_image_location check (image ~ '^(https?://|/)\S+$' and char_length(image) <= 2048),
  constraint styles_description_length check (char_length(description) <= 10000),
  constraint styles_meta_description_length check (char_length(meta_description) <= 1000)
);

comment on table public.styles is
  'Item styles: a vocabulary that administrators maintain.';
comment on column public.styles.image is
  'Absolute address or root-relative path such as /storage/v1/object/public/images/style-images/<file>.';

create unique index styles_name_key on public.styles (lower(name));
create index styles_name_idx on public.styles (name);
create index styles_name_trgm_idx on public.styles using gin (name extensions.gin_trgm_ops);

create trigger styles_blank_to_null
  before insert or update on public.styles
  for each row execute function private.blank_to_null('description', 'meta_description', 'image');

alter table public.styles enable row level security;
revoke all on table public.styles from anon, authenticated;
grant select on table public.styles to anon;
grant select, insert, update, delete on table public.styles to authenticated;
grant all on table public.styles to service_role;

create policy styles_select_all on public.styles
  for select to anon, authenticated
  using (true);
comment on policy styles_select_all on public.styles is 'The catalogue is public.';

create policy styles_insert_admin on public.styles
  for insert to authenticated
  with check ((select public.is_admin_role()));
comment on policy styles_insert_admin on public.styles is 'Administrators maintain the catalogue.';

create policy styles_update_admin on public.styles
  for update to authenticated
  using ((select public.is_admin_role()))
  with check ((select public.is_admin_role()));
comment on policy styles_update_admin on public.styles is 'Administrators maintain the catalogue.';

create policy styles_delete_admin on public.styles
  for delete to authenticated
  using ((select public.is_admin_role()));
comment on policy styles_delete_admin on public.styles is 'Administrators maintain the catalogue.';
