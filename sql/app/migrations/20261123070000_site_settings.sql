-- What administrators set for the whole site: its name, whether people may register, and whether submissions wait for a review.

create table public.site_settings (
  id                boolean     not null default true,
  site_name         text        not null default 'Lookbook',
  registration_open boolean     not null default true,
  review_required   boolean     not null default true,
  updated_at        timestamptz not null default now(),

  constraint site_settings_pkey primary key (id),
  constraint site_settings_one_row check (id),
  constraint site_settings_site_name_length check (char_length(site_name) between 2 and 40),
  constraint site_settings_site_name_format check (site_name = btrim(site_name) and site_name !~ '[[:cntrl:]]')
);

comment on table public.site_settings is 'The one row of settings; everybody reads it, administrators change it.';
comment on column public.site_settings.site_name is 'Shown as the wordmark and in the titles of pages.';
comment on column public.site_settings.registration_open is
  'Whether people may create accounts; enforced by the hook private.before_user_created.';
comment on column public.site_settings.review_required is
  'Whether submissions wait for an administrator; enforced by private.guard_combine.';

insert into public.site_settings default values;

create trigger site_settings_set_updated_at
  before update on public.site_settings
  for each row execute function private.set_updated_at();

alter table public.site_settings enable row level security;
revoke all on table public.site_settings from anon, authenticated;
grant select on table public.site_settings to anon, authenticated;
grant update (site_name, registration_open, review_required) on table public.site_settings to authenticated;
grant all on table public.site_settings to service_role;

create policy site_settings_select on public.site_settings
  for select to anon, authenticated
  using (true);
comment on policy site_settings_select on public.site_settings is
  'Pages show the name, and say when registration is closed.';

create policy site_settings_update_admin on public.site_settings
  for update to authenticated
  using ((select public.is_admin_role()))
  with check ((select public.is_admin_role()));
comment on policy site_settings_update_admin on public.site_settings is
  'Administrators change the settings; nobody adds or deletes the row.';

-- Registration: `[auth.hook.before_user_created]` in config.toml. The service calls it for every way to create an account: password,
-- mailed link, invitation, identity provider, anonymous. Accounts that the service key creates are not asked about.

create function private.before_user_created(event jsonb) returns jsonb
  language plpgsql
  stable
  -- Security definer: the service's role has no rights on the site's tables.
  security definer
  set search_path = ''
as $$
begin
  if exists (select 1 from public.site_settings as s where not s.registration_open) then
    return jsonb_build_object(
      'error', jsonb_build_object('http_code', 403, 'message', 'Registration is closed at the moment.'));
  end if;
  return '{}';
end
$$;
comment on function private.before_user_created(jsonb) is
  'Hook of the auth service: refuses new accounts while registration is closed.';

revoke execute on function private.before_user_created(jsonb) from public;
grant usage on schema private to supabase_auth_admin;
grant execute on function private.before_user_created(jsonb) to supabase_auth_admin;
