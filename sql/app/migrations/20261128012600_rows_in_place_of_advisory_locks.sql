-- Requests that count together wait for each other. They did so by advisory locks, which every role may take and keep: whoever can
-- run SQL could stop everybody's slugs, uploads and pictures. Rows of tables that only these functions may lock do the same.

create table private.slug_locks (
  table_name text not null,
  constraint slug_locks_pkey primary key (table_name)
);
comment on table private.slug_locks is 'One row for each table with slugs, locked while a slug is chosen.';
insert into private.slug_locks (table_name) values ('combines'), ('items');

create table private.person_locks (
  person uuid not null,
  kind   text not null,

  constraint person_locks_pkey primary key (person, kind),
  constraint person_locks_kind_known check (kind in ('files', 'pictures', 'asked_for'))
);
comment on table private.person_locks is 'Rows that are locked while something of one person is counted. Made when they are first needed.';

alter table private.slug_locks enable row level security;
alter table private.person_locks enable row level security;
revoke all on private.slug_locks, private.person_locks from public, anon, authenticated, service_role;

create function private.lock_person(whose uuid, what text) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  perform from private.person_locks as l where l.person = whose and l.kind = what for update;
  if not found then
    -- A request that inserts the same row waits here for the other's end.
    insert into private.person_locks (person, kind) values (whose, what) on conflict do nothing;
    perform from private.person_locks as l where l.person = whose and l.kind = what for update;
  end if;
end
$$;
comment on function private.lock_person(uuid, text) is
  'Makes requests of one person wait for each other until the transaction ends. Works for the owner of the table alone.';

create or replace function private.lock_pictures(person uuid) returns void
  language sql
  set search_path = ''
as $$
  -- Not the profile's row, as whoever edits the profile would wait for it.
  select private.lock_person(person, 'pictures')
$$;

create or replace function private.lock_files(person uuid) returns void
  language sql
  set search_path = ''
as $$
  select private.lock_person(person, 'files')
$$;

create or replace function private.count_daily(person uuid, what text) returns int
  language sql
  -- Security definer: nobody but these functions reads or writes the table.
  security definer
  set search_path = ''
as $$
  -- Requests of one person wait for each other, because they could otherwise pass a limit together.
  select private.lock_person(person, 'asked_for');
  delete from private.asked_for as a where a.user_id = person and a.asked_at < now() - interval '1 day';
  insert into private.asked_for (user_id, kind) values (person, what);
  select count(*)::int from private.asked_for as a where a.user_id = person and a.kind = what
$$;

create or replace function private.set_slug() returns trigger
  language plpgsql
  -- Security definer: the slug may be in use by a row that the writer cannot see.
  security definer
  set search_path = ''
as $$
declare
  fallback constant text := tg_argv[0];
  base  text;
  taken boolean;
begin
  new.slug := btrim(coalesce(new.slug, ''));
  if new.slug <> '' then
    return new; -- the constraints judge what people type
  end if;

  base := btrim(left(regexp_replace(private.plain_letters(new.name), '[^a-z0-9]+', '-', 'g'), 200), '-');
  if base is null or base = '' then
    base := fallback || '-' || left(new.id::text, 8);
  elsif private.is_uuid(base) then
    base := fallback || '-' || base;
  end if;
  -- If two rows with one name are inserted concurrently, the second waits and then sees the first.
  perform from private.slug_locks as l where l.table_name = tg_table_name for update;
  execute format('select exists (select 1 from public.%I where slug = $1 and id <> $2)', tg_table_name)
    into taken using base, new.id;
  new.slug := case when taken then base || '-' || left(new.id::text, 8) else base end;
  return new;
end
$$;

create function private.forget_person_locks() returns trigger
  language plpgsql
  -- Security definer: nobody but the owner has rights on the table.
  security definer
  set search_path = ''
as $$
begin
  delete from private.person_locks as l where l.person = old.id;
  return null;
end
$$;
comment on function private.forget_person_locks() is 'After-delete trigger: the rows go with the person.';
create trigger profiles_forget_locks
  after delete on public.profiles
  for each row execute function private.forget_person_locks();
