create extension if not exists pgmq;
create extension if not exists pg_cron with schema extensions;
do $$
begin
  if not exists (select from pgmq.list_queues() where queue_name = 'mails') then
    perform pgmq.create('mails');
  end if;
end
$$;
select cron.schedule('clean-up', '0 3 * * *', $$ delete from pgmq.a_mails where archived_at < now() - interval '7 days' $$);
create function public.enqueue_mail(address text) returns bigint
  language sql security definer set search_path = '' as $$
  select pgmq.send('mails', jsonb_build_object('to', address))
$$;
