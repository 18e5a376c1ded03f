-- Every account gets its profile in the transaction that creates it. Nothing a stranger puts
-- into the sign-up metadata may break the sign-up or reach the role.

create function private.clean_username(wanted text) returns text
  language sql
  immutable
  set search_path = ''
as $$
  select nullif(left(ltrim(
    regexp_replace(regexp_replace(btrim(wanted), '\s+', '_', 'g'), '[^A-Za-z0-9._-]', '', 'g'),
    '.-'), 50), '')
$$;
comment on function private.clean_username(text) is
  'The nearest name that profiles accepts as a base, or null.';

create function private.create_profile() returns trigger
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
  if avatar !~ '^(https?://|/)\S+$' or char_length(avatar) > 2048 then
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
comment on function private.create_profile() is
  'After-insert trigger on auth.users: profile from the sign-up metadata, role always user, a free username when the wanted one is taken, unfit or reserved.';

create trigger create_profile_on_signup
  after insert on auth.users
  for each row execute function private.create_profile();

create function public.username_available(candidate text) returns boolean
  language sql
  stable
  set search_path = ''
as $$
  select char_length(candidate) between 3 and 50
    and candidate ~ '^[A-Za-z0-9_][A-Za-z0-9._-]*$'
    and not private.is_reserved_username(candidate)
    and not exists (select 1 from public.profiles where lower(username) = lower(candidate))
$$;
comment on function public.username_available(text) is
  'True when a profile could take this name now: well-formed, not reserved, not taken in any case.';
