-- Texts of profiles lose what could run as a script (specification §5). Pages escape what they show; this is for every other
-- reader of the data, such as mails and exports.

create function private.remove_scripts(value text) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  cleaned text := value;
  before  text;
begin
  -- Until nothing changes: removing one piece may join the rest to another, as in `<scr<script></script>ipt>`.
  while cleaned is distinct from before loop
    before := cleaned;
    -- The first quantifier decides whether the whole pattern is greedy, so all are lazy: two script blocks are two matches.
    cleaned := regexp_replace(cleaned, '<script[^>]*?>.*?</script\s*?>', '', 'gi');
    cleaned := regexp_replace(cleaned, '</?script[^>]*>?', '', 'gi');
    cleaned := regexp_replace(cleaned, 'javascript\s*:', '', 'gi');
    cleaned := regexp_replace(cleaned, '\mon[a-z]+\s*=\s*("[^"]*"|''[^'']*''|[^\s>]*)', '', 'gi');
  end loop;
  return nullif(btrim(cleaned), '');
end
$$;
comment on function private.remove_scripts(text) is
  'The text without script blocks, javascript: addresses and inline event handlers; null when nothing is left.';

create function private.clean_profile_texts() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  new.username  := private.remove_scripts(new.username);
  new.full_name := private.remove_scripts(new.full_name);
  new.bio       := private.remove_scripts(new.bio);
  return new;
end
$$;
comment on function private.clean_profile_texts() is
  'Before-write trigger: sanitises username, full name and bio.';

create trigger profiles_clean_texts
  before insert or update of username, full_name, bio on public.profiles
  for each row execute function private.clean_profile_texts();

create function public.profile_by_username(name text) returns setof public.profiles
  language sql
  stable
  rows 1
  -- The caller's policies apply. The expression is the one of the unique index, which `ilike` could not use.
as $$
  select p.* from public.profiles as p where lower(p.username) = lower(name)
$$;
comment on function public.profile_by_username(text) is
  'The profile with this username in any case of letters; empty when nobody has it.';
