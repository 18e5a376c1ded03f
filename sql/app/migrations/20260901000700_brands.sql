create table public.brands (
  id               uuid        not null default gen_random_uuid(),
  name             text        not null,
  logo             text,
  description      text,
  meta_description text,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),

  constraint brands_pkey primary key (id),
  constraint brands_name_length check (char_length(btrim(name)) between 2 and 120),
  constraint brands_logo_location check (logo ~ '^(https?://|/)\S+$' and char_length(logo) <= 2048),
  constraint brands_description_length check (char_length(description) <= 10000),
  constraint brands_meta_description_length check (char_length(meta_description) <= 1000)
);

comment on table public.brands is
  'Makers of items. A brand that items still name cannot be deleted.';
comment on column public.brands.logo is
  'Absolute address or root-relative path such as /storage/v1/object/public/brand-logos/<file>.';

-- The retailer import finds a brand by its name in any case, so there can be one only.
create unique index brands_name_key on public.brands (lower(name));
-- The admin table sorts by either column and searches by a part of the name.
create index brands_name_idx on public.brands (name);
create index brands_created_at_idx on public.brands (created_at desc);
create index brands_name_trgm_idx on public.brands using gin (name extensions.gin_trgm_ops);

create trigger brands_blank_to_null
  before insert or update on public.brands
  for each row execute function private.blank_to_null('logo', 'description', 'meta_description');
create trigger brands_set_updated_at
  before update on public.brands
  for each row execute function private.set_updated_at();

alter table public.brands enable row level security;
revoke all on table public.brands from anon, authenticated;
grant select on table public.brands to anon;
grant select, insert, update, delete on table public.brands to authenticated;
grant all on table public.brands to service_role;

create policy brands_select_all on public.brands
  for select to anon, authenticated
  using (true);
comment on policy brands_select_all on public.brands is 'The catalogue is public.';

create policy brands_insert_admin on public.brands
  for insert to authenticated
  with check ((select public.is_admin_role()));
comment on policy brands_insert_admin on public.brands is 'Administrators maintain the catalogue.';

create policy brands_update_admin on public.brands
  for update to authenticated
  using ((select public.is_admin_role()))
  with check ((select public.is_admin_role()));
comment on policy brands_update_admin on public.brands is 'Administrators maintain the catalogue.';

create policy brands_delete_admin on public.brands
  for delete to authenticated
  using ((select public.is_admin_role()));
comment on policy brands_delete_admin on public.brands is 'Administrators maintain the catalogue.';
