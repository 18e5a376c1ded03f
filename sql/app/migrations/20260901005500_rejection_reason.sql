-- A creator whose outfit was rejected is told why.

alter table public.combines add column rejection_reason text;
alter table public.combines add constraint combines_rejection_reason_length
  check (char_length(rejection_reason) <= 1000);
alter table public.combines add constraint combines_rejection_reason_of_rejected
  check (rejection_reason is null or status = 'rejected');
comment on column public.combines.rejection_reason is
  'What the administrator wrote when rejecting; null unless rejected. Read by the creator and by administrators.';
