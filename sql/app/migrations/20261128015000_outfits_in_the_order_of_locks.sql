-- Whoever reviews an outfit has its row, and then refers to the creator's profile (private.notify_of_review). A deletion of the creator had
-- the profile and waited for the outfit (private.delete_unpublished_combines), so PostgreSQL ended one of the two.
--
-- The order for all: the row in auth.users, the turns "pictures" and "asked_for", rows of generated_pictures, outfits, rows of files,
-- the turn "files", profiles.

create or replace function private.lock_for_deletion(whose uuid) returns void
  language plpgsql
  set search_path = ''
as $$
declare
  most_attempts constant int := 5;
begin
  perform private.lock_pictures(whose);
  perform private.lock_person(whose, 'asked_for');
  perform from public.generated_pictures as g where g.user_id = whose order by g.id for update;
  perform from public.combines as c where c.user_id = whose order by c.id for update;
  for attempt in 1..most_attempts loop
    begin
      perform from storage.objects as o
      where o.id in (select mine.id from private.objects_of(whose) as mine) order by o.id for update;
      perform private.lock_files(whose);
      -- A file may have been stored between the two, and somebody may be about to replace it, who waits for the turn that this has.
      perform from storage.objects as o
      where o.id in (select mine.id from private.objects_of(whose) as mine) order by o.id for update nowait;
      return;
    exception when lock_not_available or deadlock_detected then
      -- Here the locks of this attempt are free again. A deadlock is one with a request that removes several of the files in an order of
      -- its own.
      if attempt = most_attempts then
        raise;
      end if;
    end;
  end loop;
end
$$;
