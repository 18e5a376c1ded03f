-- A page that is open learns of new notifications by a broadcast on a private channel of the addressee. The message carries the
-- id alone; the page reads the row through its policy.

create function private.broadcast_notification() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  -- realtime.send turns its own failures into warnings, so a like or review never fails because of it.
  perform realtime.send(
    jsonb_build_object('id', new.id, 'kind', new.kind), 'notification', 'notifications:' || new.user_id, true);
  return null;
end
$$;
comment on function private.broadcast_notification() is
  'After-insert trigger: announces a notification on the channel notifications:<user id>.';

create trigger notifications_broadcast
  after insert on public.notifications
  for each row execute function private.broadcast_notification();

create policy lookbook_notifications_receive_own on realtime.messages
  for select to authenticated
  using (
    extension = 'broadcast'
    and realtime.topic() = 'notifications:' || (select auth.uid()));
comment on policy lookbook_notifications_receive_own on realtime.messages is
  'Everybody listens to their own notifications. Nobody sends there: no policy allows inserts.';
