-- Pictures that users choose are files of this site. An address elsewhere would make the browser of everybody who looks at the
-- outfit or profile, administrators included, call a server of the author's choice.

create function private.is_own_picture(bucket text, user_id uuid, url text) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  select url ~ ('^/storage/v1/object/public/' || bucket || '/' || user_id || '/[^?#\s]+$')
    -- Browsers resolve `..` before they send a request, so such a URL could leave the folder.
    and url !~ '(^|/)\.{1,2}(/|$)' and url !~* '%(2e|2f|5c)'
$$;
comment on function private.is_own_picture(text, uuid, text) is
  'True for the root-relative address of a file in the user''s own folder of a public bucket.';

create function private.guard_outfit_picture() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  -- Not subject to row-level security: service_role, migrations and security definer functions.
  if not row_security_active(tg_relid) or new.main_image is null or public.is_admin_role() then
    return new;
  end if;
  if tg_op = 'UPDATE'
     and (new.main_image, new.item_ids) is not distinct from (old.main_image, old.item_ids) then
    return new;
  end if;
  if not private.is_own_picture('user-outfit-images', new.user_id, new.main_image)
     and not exists (
       select 1 from public.items as i where i.id = any (new.item_ids) and i.image = new.main_image) then
    raise exception 'The picture of an outfit is one of its items'' or lies in its creator''s own folder.'
      using errcode = 'check_violation', constraint = 'combines_main_image_own',
            schema = 'public', table = 'combines', column = 'main_image';
  end if;
  return new;
end
$$;
comment on function private.guard_outfit_picture() is
  'Before-write trigger: where the picture of a submission may come from.';

create trigger combines_guard_picture
  before insert or update on public.combines
  for each row execute function private.guard_outfit_picture();

create function private.is_provider_avatar(profile_id uuid, url text) returns boolean
  language sql
  stable
  -- Security definer: callers cannot read auth.identities.
  security definer
  set search_path = ''
as $$
  -- Users can edit user_metadata, but not identity_data, which comes from the provider.
  select exists (
    select 1 from auth.identities as i
    where i.user_id = profile_id and i.provider not in ('email', 'phone')
      and url in (i.identity_data ->> 'avatar_url', i.identity_data ->> 'picture'))
$$;
comment on function private.is_provider_avatar(uuid, text) is
  'True when an identity provider of this user has given this picture.';

create function private.guard_avatar() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if not row_security_active(tg_relid) or new.avatar_url is null or public.is_admin_role() then
    return new;
  end if;
  if tg_op = 'UPDATE' and new.avatar_url is not distinct from old.avatar_url then
    return new;
  end if;
  if not private.is_own_picture('avatars', new.id, new.avatar_url)
     and not private.is_provider_avatar(new.id, new.avatar_url) then
    raise exception 'An avatar lies in its owner''s own folder, or comes from their identity provider.'
      using errcode = 'check_violation', constraint = 'profiles_avatar_url_own',
            schema = 'public', table = 'profiles', column = 'avatar_url';
  end if;
  return new;
end
$$;
comment on function private.guard_avatar() is
  'Before-write trigger: where the picture of a profile may come from.';

-- After profiles_guard and profiles_blank_to_null, in the order of names; a wrong address stays the constraint's business.
create trigger profiles_guard_avatar
  before insert or update on public.profiles
  for each row execute function private.guard_avatar();

-- As before, except for the avatar, since the trigger above does not apply to this security definer function.
create or replace function private.create_profile() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  metadata  jsonb := coalesce(new.raw_user_meta_data, '{}');
  base      text  := private.clean_username(metadata ->> 'username');
  -- External providers call them `name` and `picture`.
  full_name text  := left(btrim(coalesce(metadata ->> 'full_name', metadata ->> 'name')), 120);
  avatar    text  := btrim(coalesce(metadata ->> 'avatar_url', metadata ->> 'picture'));
  candidate text  := base;
  attempt   int   := 0;
begin
  -- At sign-up with e-mail and password the user chooses the metadata, so its picture is used only if it
  -- comes from a provider.
  if coalesce(new.raw_app_meta_data ->> 'provider', 'email') in ('email', 'phone')
     or avatar !~ '^(https?://|/)\S+$' or char_length(avatar) > 2048 then
    avatar := null;
  end if;

  if base is null then
    insert into public.profiles (id, full_name, avatar_url)
    values (new.id, full_name, avatar)
    on conflict do nothing;
    return new;
  end if;

  loop
    if char_length(candidate) >= 3 and not private.is_reserved_username(candidate) then
      insert into public.profiles (id, username, full_name, avatar_url)
      values (new.id, candidate, full_name, avatar)
      on conflict do nothing;
      exit when found or exists (select 1 from public.profiles as p where p.id = new.id);
    end if;
    attempt := attempt + 1;
    -- First the suffixes that the site suggests, then a random one.
    candidate := left(base, 41) || case
      when attempt <= 5 then attempt::text
      else '_' || left(replace(gen_random_uuid()::text, '-', ''), 8)
    end;
  end loop;
  return new;
end
$$;
