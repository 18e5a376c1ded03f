-- Whoever waited long for a picture is told when it is there, or that it could not be made. A preview is there within seconds, while its
-- owner looks at the page, so it needs no notification.

alter table public.notifications drop constraint notifications_kind_known;
alter table public.notifications add constraint notifications_kind_known
  check (kind in ('liked', 'approved', 'rejected', 'picture_ready', 'picture_failed'));

create function private.notify_of_picture() returns trigger
  language plpgsql
  -- Security definer: nobody may write notifications.
  security definer
  set search_path = ''
as $$
begin
  insert into public.notifications (user_id, kind, combine_id)
  values (
    new.user_id, case new.status when 'succeeded' then 'picture_ready' else 'picture_failed' end, new.combine_id);
  return null;
end
$$;
comment on function private.notify_of_picture() is
  'After-update trigger on generated_pictures: tells the owner how it went, when it took longer than a minute.';

create trigger generated_pictures_notify
  after update of status on public.generated_pictures
  for each row when (
    old.status is distinct from new.status and new.status in ('succeeded', 'failed')
    -- A notification leads to the page of an outfit.
    and new.combine_id is not null
    and new.finished_at - coalesce(new.started_at, new.created_at) > interval '1 minute')
  execute function private.notify_of_picture();
