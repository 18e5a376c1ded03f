-- A page that is open learns of progress by a broadcast on a private channel of the owner. The message carries the id and the
-- state alone; the page reads the row through its policy.

create function private.broadcast_generated_picture() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  -- realtime.send turns its own failures into warnings, so a job never fails because of it.
  perform realtime.send(
    jsonb_build_object('id', new.id, 'status', new.status, 'progress', new.progress, 'updated_at', new.updated_at),
    'changed', 'generated-pictures:' || new.user_id, true);
  return null;
end
$$;
comment on function private.broadcast_generated_picture() is
  'After-update trigger: announces the state of a picture on the channel generated-pictures:<user id>.';

create trigger generated_pictures_broadcast
  after update on public.generated_pictures
  for each row when ((old.status, old.progress, old.error) is distinct from (new.status, new.progress, new.error))
  execute function private.broadcast_generated_picture();

create policy lookbook_generated_pictures_receive_own on realtime.messages
  for select to authenticated
  using (
    extension = 'broadcast'
    and realtime.topic() = 'generated-pictures:' || (select auth.uid()));
comment on policy lookbook_generated_pictures_receive_own on realtime.messages is
  'Everybody listens to their own pictures. Nobody sends there: no policy allows inserts.';
