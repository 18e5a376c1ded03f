create table public.messages (id int primary key);
create schema internal;
create table internal.jobs (id int primary key);
do $$
begin
  if not exists (select from pg_event_trigger where evtname = 'log_drops') then
    create table public.dropped (name text);
    create function public.log_drop() returns event_trigger language plpgsql as $f$
    begin
      insert into public.dropped select object_identity from pg_event_trigger_dropped_objects() where original;
    end
    $f$;
    create event trigger log_drops on sql_drop execute procedure public.log_drop();
  end if;
end
$$;
