set lock_timeout = '5s';
update public.orders set state = 'sent' where note = 'by post';
alter table public.orders alter column note type text, add column total numeric(10, 2) not null default 0;
alter table public.orders rename column note to remark;
