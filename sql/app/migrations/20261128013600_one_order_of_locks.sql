-- Deleting an account and a request of the same person took the same locks in different orders: the deletion had the profile and waited
-- for the rows of person_locks, while a request that had those waited for the profile, which its rows refer to. PostgreSQL then ends
-- one of the two. The same with files, of which an upload that replaces one has the row before it waits for its turn.
--
-- One order for all: the row in auth.users, the turns "pictures" and "asked_for", rows of generated_pictures, rows of files, the turn
-- "files", profiles.

create or replace function private.lock_person(whose uuid, what text) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  perform from private.person_locks as l where l.person = whose and l.kind = what for update;
  if not found then
    -- A request that inserts the same row waits here for the other's end. Without a profile there is nothing to count, and nothing with
    -- which the row would go: the request may have waited for the deletion of the account.
    insert into private.person_locks (person, kind)
    select whose, what where exists (select from public.profiles as p where p.id = whose)
    on conflict do nothing;
    perform from private.person_locks as l where l.person = whose and l.kind = what for update;
  end if;
end
$$;

delete from private.person_locks as l
where not exists (select from public.profiles as p where p.id = l.person);

create function private.lock_for_deletion(whose uuid) returns void
  language plpgsql
  set search_path = ''
as $$
declare
  most_attempts constant int := 5;
begin
  perform private.lock_pictures(whose);
  perform private.lock_person(whose, 'asked_for');
  perform from public.generated_pictures as g where g.user_id = whose order by g.id for update;
  for attempt in 1..most_attempts loop
    begin
      perform from storage.objects as o
      where o.id in (select mine.id from private.objects_of(whose) as mine) order by o.id for update;
      perform private.lock_files(whose);
      -- A file may have been stored between the two, and somebody may be about to replace it, who waits for the turn that this has.
      perform from storage.objects as o
      where o.id in (select mine.id from private.objects_of(whose) as mine) order by o.id for update nowait;
      return;
    exception when lock_not_available then
      -- Here the locks of this attempt are free again.
      if attempt = most_attempts then
        raise;
      end if;
    end;
  end loop;
end
$$;
comment on function private.lock_for_deletion(uuid) is
  'Takes all that requests of this person take before they wait for the profile or a file, in the same order. Before any lock on profiles.';

create or replace function private.remove_person() returns trigger
  language plpgsql
  -- Security definer: the service that deletes accounts has no rights on files and outfits.
  security definer
  set search_path = ''
as $$
declare
  allowed constant text := coalesce(current_setting('storage.allow_delete_query', true), '');
begin
  -- An upload that is about to be stored waits, and then finds no account.
  perform private.lock_for_deletion(old.id);
  perform private.give_outfits_item_pictures(old.id);
  -- Without its row no object can be read. The sweep of the storage service removes the bytes.
  perform set_config('storage.allow_delete_query', 'true', true);
  delete from storage.objects as o
  where o.id in (select mine.id from private.objects_of(old.id) as mine);
  perform set_config('storage.allow_delete_query', allowed, true);
  if tg_op = 'UPDATE' then
    delete from public.profiles as p where p.id = old.id;
    return new;
  end if;
  return old;
end
$$;

create function private.await_own_turn() returns trigger
  language plpgsql
  -- Security definer: nobody but the owner has rights on the table.
  security definer
  set search_path = ''
as $$
begin
  perform private.lock_person(new.user_id, 'asked_for');
  return new;
end
$$;
comment on function private.await_own_turn() is
  'Before-insert trigger: a submission waits for its turn before it refers to the profile, and not when it is counted.';
-- The name comes before those of the other triggers, which take the turn of slugs.
create trigger combines_await_own_turn
  before insert on public.combines
  for each row when (new.user_id = auth.uid())
  execute function private.await_own_turn();

create or replace function public.delete_my_account(confirmation text) returns void
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  me constant uuid := auth.uid();
  expected text;
begin
  select coalesce(p.username, u.email) into expected
  from auth.users as u left join public.profiles as p on p.id = u.id
  where u.id = me;
  if not found then
    raise exception 'Sign in to delete your account.' using errcode = 'insufficient_privilege';
  end if;
  if lower(btrim(confirmation)) is distinct from lower(expected) then
    raise exception 'The confirmation is not the username of the account.'
      using errcode = 'check_violation', constraint = 'account_deletion_confirmed',
            hint = 'An account without a username is confirmed by its e-mail address.';
  end if;
  if coalesce(private.signed_in_at() < now() - interval '10 minutes', true) then
    raise exception 'Sign in again to delete your account.'
      using errcode = 'PT403', hint = 'The last sign-in must not be older than ten minutes.';
  end if;
  -- The locks of remove_person, before those on profiles. The row itself comes first, as in every deletion of an account.
  perform from auth.users as u where u.id = me for update;
  perform private.lock_for_deletion(me);
  -- The lock serialises changes of administrators, as in set_user_role.
  perform from public.profiles as p where p.role = 'admin' order by p.id for update;
  if exists (select from public.profiles as p where p.id = me and p.role = 'admin')
     and not exists (select from public.profiles as p where p.role = 'admin' and p.id <> me) then
    raise exception 'The last administrator cannot be deleted.'
      using errcode = 'check_violation', hint = 'Make somebody else an administrator first.';
  end if;

  -- Sessions, identities, the profile, files and what belongs to it go with the account (private.remove_person).
  delete from auth.users as u where u.id = me;
end
$$;
