create table public.all_items (id int primary key, title text not null, deleted_at timestamptz);
create view public.items with (security_invoker = on) as select id, title from public.all_items where deleted_at is null;
create function public.delete_item() returns trigger language plpgsql as $$
begin
  update public.all_items set deleted_at = now() where id = old.id;
  return old;
end
$$;
create trigger delete_item instead of delete on public.items for each row execute function public.delete_item();
create rule keep_rows as on delete to public.all_items do instead nothing;
